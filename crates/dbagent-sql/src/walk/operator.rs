//! Operators.

use dbagent_core::Effects;
use sqlparser::ast::{BinaryOperator, UnaryOperator};

use super::Walk;

impl Walk<'_> {
    pub(super) fn unary_operator(op: UnaryOperator) {
        match op {
            // All only compute.
            UnaryOperator::AtDashAt
            | UnaryOperator::BangNot
            | UnaryOperator::BitwiseNot
            | UnaryOperator::DoubleAt
            | UnaryOperator::Hash
            | UnaryOperator::Plus
            | UnaryOperator::Minus
            | UnaryOperator::Not
            | UnaryOperator::PGAbs
            | UnaryOperator::PGCubeRoot
            | UnaryOperator::PGPostfixFactorial
            | UnaryOperator::PGPrefixFactorial
            | UnaryOperator::PGSquareRoot
            | UnaryOperator::QuestionDash
            | UnaryOperator::QuestionPipe => {}
        }
    }

    pub(super) fn binary_operator(&mut self, op: &BinaryOperator) {
        match op {
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::StringConcat
            | BinaryOperator::Gt
            | BinaryOperator::Lt
            | BinaryOperator::GtEq
            | BinaryOperator::LtEq
            | BinaryOperator::Spaceship
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Xor
            | BinaryOperator::BitwiseOr
            | BinaryOperator::BitwiseAnd
            | BinaryOperator::BitwiseXor
            | BinaryOperator::DuckIntegerDivide
            | BinaryOperator::MyIntegerDivide
            | BinaryOperator::PGBitwiseXor
            | BinaryOperator::PGBitwiseShiftLeft
            | BinaryOperator::PGBitwiseShiftRight
            | BinaryOperator::PGExp
            | BinaryOperator::PGOverlap
            | BinaryOperator::PGRegexMatch
            | BinaryOperator::PGRegexIMatch
            | BinaryOperator::PGRegexNotMatch
            | BinaryOperator::PGRegexNotIMatch
            | BinaryOperator::PGLikeMatch
            | BinaryOperator::PGILikeMatch
            | BinaryOperator::PGNotLikeMatch
            | BinaryOperator::PGNotILikeMatch
            | BinaryOperator::PGStartsWith
            | BinaryOperator::Arrow
            | BinaryOperator::LongArrow
            | BinaryOperator::HashArrow
            | BinaryOperator::HashLongArrow
            | BinaryOperator::AtAt
            | BinaryOperator::AtArrow
            | BinaryOperator::ArrowAt
            | BinaryOperator::HashMinus
            | BinaryOperator::AtQuestion
            | BinaryOperator::Question
            | BinaryOperator::QuestionAnd
            | BinaryOperator::QuestionPipe
            | BinaryOperator::Overlaps
            | BinaryOperator::DoubleHash
            | BinaryOperator::LtDashGt
            | BinaryOperator::AndLt
            | BinaryOperator::AndGt
            | BinaryOperator::LtLtPipe
            | BinaryOperator::PipeGtGt
            | BinaryOperator::AndLtPipe
            | BinaryOperator::PipeAndGt
            | BinaryOperator::LtCaret
            | BinaryOperator::GtCaret
            | BinaryOperator::QuestionHash
            | BinaryOperator::QuestionDash
            | BinaryOperator::QuestionDashPipe
            | BinaryOperator::QuestionDoublePipe
            | BinaryOperator::At
            | BinaryOperator::TildeEq
            | BinaryOperator::Is
            | BinaryOperator::IsNot => {}
            // SQLite calls a function of that name, which a host can replace.
            BinaryOperator::Match => self.operator_function("match"),
            BinaryOperator::Regexp => self.operator_function("regexp"),
            BinaryOperator::Glob => self.operator_function("glob"),
            BinaryOperator::Custom(symbol) => self.custom_operator(symbol, None),
            BinaryOperator::PGCustomBinaryOperator(parts) => self.custom_operator(&parts.join("."), None),
            // `@v := 1` within an expression.
            BinaryOperator::Assignment => self.effect(Effects::SESSION),
        }
    }

    fn operator_function(&mut self, name: &str) {
        let effects = self.grammar().known(name).map_or(Effects::UNKNOWN, |k| k.effects);
        self.function_use(name, Some(2), effects, None);
    }
}
