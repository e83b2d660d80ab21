//! Statements that are no question: what they do, and why they are refused.
//!
//! Few of them may ever be proposed to a person: those whose every part was looked at.

use dbagent_core::Effects;
use dbagent_core::guard::{Rule, StatementClass};
use pg_query::NodeEnum;

use super::nodes::{analysed, expression, part, source};
use super::walk::Walk;

impl Walk<'_> {
    /// A statement that neither reads nor changes rows.
    #[expect(clippy::unnested_or_patterns, reason = "each group is one macro")]
    pub(super) fn other_statement(&mut self, node: &NodeEnum) -> StatementClass {
        match node {
            NodeEnum::CreateTableAsStmt(create) => self.create_table_as(create),
            NodeEnum::CreateStmt(create) => self.create_table(create),
            NodeEnum::ViewStmt(view) => self.create_view(view),
            NodeEnum::IndexStmt(index) => self.create_index(index),
            NodeEnum::DropStmt(drop) => self.drop_objects(drop),
            NodeEnum::TruncateStmt(truncate) => self.truncate(truncate),
            NodeEnum::CommentStmt(comment) => self.comment(comment),
            NodeEnum::RenameStmt(rename) => self.rename(rename),

            NodeEnum::VariableSetStmt(_)
            | NodeEnum::DiscardStmt(_)
            | NodeEnum::ListenStmt(_)
            | NodeEnum::UnlistenStmt(_)
            | NodeEnum::DeclareCursorStmt(_)
            | NodeEnum::ClosePortalStmt(_)
            | NodeEnum::FetchStmt(_)
            | NodeEnum::PrepareStmt(_)
            | NodeEnum::ExecuteStmt(_)
            | NodeEnum::DeallocateStmt(_)
            | NodeEnum::ConstraintsSetStmt(_) => {
                self.note(StatementClass::Session, Effects::SESSION);
                StatementClass::Session
            }
            NodeEnum::TransactionStmt(_) => {
                self.note(StatementClass::Transaction, Effects::SESSION);
                StatementClass::Transaction
            }
            NodeEnum::LockStmt(_) => {
                self.note(StatementClass::Session, Effects::LOCK);
                self.refuse(Rule::Locks, "the statement takes locks");
                StatementClass::Session
            }
            NodeEnum::ClusterStmt(_)
            | NodeEnum::VacuumStmt(_)
            | NodeEnum::ReindexStmt(_)
            | NodeEnum::CheckPointStmt(_)
            | NodeEnum::RefreshMatViewStmt(_) => {
                self.note(StatementClass::Maintenance, Effects::WRITE | Effects::LOCK);
                StatementClass::Maintenance
            }
            NodeEnum::CopyStmt(_)
            | NodeEnum::LoadStmt(_)
            | NodeEnum::NotifyStmt(_)
            | NodeEnum::ImportForeignSchemaStmt(_)
            | NodeEnum::AlterSystemStmt(_) => {
                self.note(StatementClass::ServerIo, Effects::SERVER_IO | Effects::WRITE);
                StatementClass::ServerIo
            }
            NodeEnum::DoStmt(_)
            | NodeEnum::CallStmt(_)
            | NodeEnum::ReturnStmt(_)
            | NodeEnum::PlassignStmt(_) => {
                self.note(StatementClass::Procedure, Effects::UNKNOWN);
                StatementClass::Procedure
            }
            // They make or change code, rights, or ways to other servers, or hold expressions that run later.
            NodeEnum::CreateSchemaStmt(_)
            | NodeEnum::AlterTableStmt(_)
            | NodeEnum::ReplicaIdentityStmt(_)
            | NodeEnum::AlterCollationStmt(_)
            | NodeEnum::AlterDomainStmt(_)
            | NodeEnum::GrantStmt(_)
            | NodeEnum::GrantRoleStmt(_)
            | NodeEnum::AlterDefaultPrivilegesStmt(_)
            | NodeEnum::CreateTableSpaceStmt(_)
            | NodeEnum::DropTableSpaceStmt(_)
            | NodeEnum::AlterTableSpaceOptionsStmt(_)
            | NodeEnum::AlterTableMoveAllStmt(_)
            | NodeEnum::CreateExtensionStmt(_)
            | NodeEnum::AlterExtensionStmt(_)
            | NodeEnum::AlterExtensionContentsStmt(_)
            | NodeEnum::CreateFdwStmt(_)
            | NodeEnum::AlterFdwStmt(_)
            | NodeEnum::CreateForeignServerStmt(_)
            | NodeEnum::AlterForeignServerStmt(_)
            | NodeEnum::CreateForeignTableStmt(_)
            | NodeEnum::CreateUserMappingStmt(_)
            | NodeEnum::AlterUserMappingStmt(_)
            | NodeEnum::DropUserMappingStmt(_)
            | NodeEnum::CreatePolicyStmt(_)
            | NodeEnum::AlterPolicyStmt(_)
            | NodeEnum::CreateAmStmt(_)
            | NodeEnum::CreateTrigStmt(_)
            | NodeEnum::CreateEventTrigStmt(_)
            | NodeEnum::AlterEventTrigStmt(_)
            | NodeEnum::CreatePlangStmt(_)
            | NodeEnum::CreateRoleStmt(_)
            | NodeEnum::AlterRoleStmt(_)
            | NodeEnum::AlterRoleSetStmt(_)
            | NodeEnum::DropRoleStmt(_)
            | NodeEnum::CreateSeqStmt(_)
            | NodeEnum::AlterSeqStmt(_)
            | NodeEnum::DefineStmt(_)
            | NodeEnum::CreateDomainStmt(_)
            | NodeEnum::CreateOpClassStmt(_)
            | NodeEnum::CreateOpFamilyStmt(_)
            | NodeEnum::AlterOpFamilyStmt(_)
            | NodeEnum::SecLabelStmt(_)
            | NodeEnum::CreateStatsStmt(_)
            | NodeEnum::AlterStatsStmt(_)
            | NodeEnum::CreateFunctionStmt(_)
            | NodeEnum::AlterFunctionStmt(_)
            | NodeEnum::AlterObjectDependsStmt(_)
            | NodeEnum::AlterObjectSchemaStmt(_)
            | NodeEnum::AlterOwnerStmt(_)
            | NodeEnum::AlterOperatorStmt(_)
            | NodeEnum::AlterTypeStmt(_)
            | NodeEnum::RuleStmt(_)
            | NodeEnum::CompositeTypeStmt(_)
            | NodeEnum::CreateEnumStmt(_)
            | NodeEnum::CreateRangeStmt(_)
            | NodeEnum::AlterEnumStmt(_)
            | NodeEnum::CreatedbStmt(_)
            | NodeEnum::AlterDatabaseStmt(_)
            | NodeEnum::AlterDatabaseRefreshCollStmt(_)
            | NodeEnum::AlterDatabaseSetStmt(_)
            | NodeEnum::DropdbStmt(_)
            | NodeEnum::CreateConversionStmt(_)
            | NodeEnum::CreateCastStmt(_)
            | NodeEnum::CreateTransformStmt(_)
            | NodeEnum::DropOwnedStmt(_)
            | NodeEnum::ReassignOwnedStmt(_)
            | NodeEnum::AlterTsdictionaryStmt(_)
            | NodeEnum::AlterTsconfigurationStmt(_)
            | NodeEnum::CreatePublicationStmt(_)
            | NodeEnum::AlterPublicationStmt(_)
            | NodeEnum::CreateSubscriptionStmt(_)
            | NodeEnum::AlterSubscriptionStmt(_)
            | NodeEnum::DropSubscriptionStmt(_) => {
                self.note(StatementClass::Schema, Effects::SCHEMA);
                self.parsed.columns_known = false;
                self.refuse(
                    Rule::SchemaChange,
                    "the statement changes code, rights or parts of the schema that nobody looks into",
                );
                StatementClass::Schema
            }
            NodeEnum::SelectStmt(_)
            | NodeEnum::InsertStmt(_)
            | NodeEnum::UpdateStmt(_)
            | NodeEnum::DeleteStmt(_)
            | NodeEnum::MergeStmt(_)
            | NodeEnum::ExplainStmt(_)
            | NodeEnum::VariableShowStmt(_)
            | source!()
            | expression!()
            | part!()
            | analysed!() => {
                self.unknown("this statement", None);
                StatementClass::Unknown
            }
        }
    }
}
