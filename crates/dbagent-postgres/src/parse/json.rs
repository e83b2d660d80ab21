//! The JSON constructs of the SQL standard.
//!
//! Older servers do not know them and read the same text as calls of functions, which may be a user's; so
//! each is noted as a function too.

use pg_query::protobuf::{
    JsonAggConstructor, JsonArgument, JsonArrayAgg, JsonArrayConstructor, JsonArrayQueryConstructor,
    JsonBehavior, JsonFuncExpr, JsonIsPredicate, JsonKeyValue, JsonObjectAgg, JsonObjectConstructor,
    JsonOutput, JsonParseExpr, JsonScalarExpr, JsonSerializeExpr, JsonTable, JsonTableColumn,
    JsonTablePathSpec, JsonValueExpr,
};
use pg_query::{Node, NodeEnum};

use super::inner;
use super::scope::Env;
use super::walk::Walk;

impl Walk<'_> {
    pub(super) fn json<'n>(&mut self, node: &'n NodeEnum, env: Env, open: &mut Vec<&'n Node>) {
        match node {
            NodeEnum::JsonFuncExpr(call) => self.json_function(call, open),
            NodeEnum::JsonParseExpr(parse) => {
                let JsonParseExpr { expr, output, unique_keys: _, location } = parse.as_ref();
                self.json_syntax("json", *location);
                json_value(expr.as_deref(), open);
                self.json_output(output.as_ref());
            }
            NodeEnum::JsonScalarExpr(scalar) => {
                let JsonScalarExpr { expr, output, location } = scalar.as_ref();
                self.json_syntax("json_scalar", *location);
                open.extend(expr.as_deref());
                self.json_output(output.as_ref());
            }
            NodeEnum::JsonSerializeExpr(serialize) => {
                let JsonSerializeExpr { expr, output, location } = serialize.as_ref();
                self.json_syntax("json_serialize", *location);
                json_value(expr.as_deref(), open);
                self.json_output(output.as_ref());
            }
            NodeEnum::JsonObjectConstructor(object) => {
                let JsonObjectConstructor { exprs, output, absent_on_null: _, unique: _, location } = object;
                self.json_syntax("json_object", *location);
                for pair in exprs {
                    match inner(pair) {
                        Some(NodeEnum::JsonKeyValue(pair)) => json_pair(pair, open),
                        _ => self.unknown("this part of a JSON object", None),
                    }
                }
                self.json_output(output.as_ref());
            }
            NodeEnum::JsonArrayConstructor(array) => {
                let JsonArrayConstructor { exprs, output, absent_on_null: _, location } = array;
                self.json_syntax("json_array", *location);
                for value in exprs {
                    match inner(value) {
                        Some(NodeEnum::JsonValueExpr(value)) => json_value(Some(value), open),
                        _ => self.unknown("this part of a JSON array", None),
                    }
                }
                self.json_output(output.as_ref());
            }
            NodeEnum::JsonArrayQueryConstructor(array) => {
                let JsonArrayQueryConstructor { query, output, format: _, absent_on_null: _, location } =
                    array.as_ref();
                self.json_syntax("json_array", *location);
                self.query(query.as_deref(), env);
                self.json_output(output.as_ref());
            }
            NodeEnum::JsonObjectAgg(aggregate) => {
                let JsonObjectAgg { constructor, arg, absent_on_null: _, unique: _ } = aggregate.as_ref();
                self.json_aggregate("json_objectagg", constructor.as_deref(), env, open);
                if let Some(pair) = arg {
                    json_pair(pair, open);
                }
            }
            NodeEnum::JsonArrayAgg(aggregate) => {
                let JsonArrayAgg { constructor, arg, absent_on_null: _ } = aggregate.as_ref();
                self.json_aggregate("json_arrayagg", constructor.as_deref(), env, open);
                json_value(arg.as_deref(), open);
            }
            NodeEnum::JsonIsPredicate(test) => {
                let JsonIsPredicate { expr, format: _, item_type: _, unique_keys: _, location: _ } =
                    test.as_ref();
                open.extend(expr.as_deref());
            }
            _ => self.unknown("this part of JSON", None),
        }
    }

    fn json_syntax(&mut self, name: &str, location: i32) {
        let span = self.span(location, 1);
        self.syntax(name, span);
    }

    fn json_function<'n>(&mut self, call: &'n JsonFuncExpr, open: &mut Vec<&'n Node>) {
        use pg_query::protobuf::JsonExprOp as Op;
        let JsonFuncExpr {
            op,
            column_name: _,
            context_item,
            pathspec,
            passing,
            output,
            on_empty,
            on_error,
            wrapper: _,
            quotes: _,
            location,
        } = call;
        match Op::try_from(*op) {
            Ok(Op::JsonExistsOp) => self.json_syntax("json_exists", *location),
            Ok(Op::JsonQueryOp) => self.json_syntax("json_query", *location),
            Ok(Op::JsonValueOp) => self.json_syntax("json_value", *location),
            Ok(Op::JsonTableOp | Op::Undefined) | Err(_) => self.unknown("this JSON function", None),
        }
        json_value(context_item.as_deref(), open);
        open.extend(pathspec.as_deref());
        self.json_passing(passing, open);
        self.json_output(output.as_ref());
        json_behaviour(on_empty.as_deref(), open);
        json_behaviour(on_error.as_deref(), open);
    }

    fn json_passing<'n>(&mut self, passing: &'n [Node], open: &mut Vec<&'n Node>) {
        for argument in passing {
            match inner(argument) {
                Some(NodeEnum::JsonArgument(argument)) => {
                    let JsonArgument { val, name: _ } = argument.as_ref();
                    json_value(val.as_deref(), open);
                }
                _ => self.unknown("this part of PASSING", None),
            }
        }
    }

    fn json_output(&mut self, output: Option<&JsonOutput>) {
        if let Some(JsonOutput { type_name, returning: _ }) = output {
            self.optional_type(type_name.as_ref());
        }
    }

    fn json_aggregate<'n>(
        &mut self,
        name: &str,
        constructor: Option<&'n JsonAggConstructor>,
        env: Env,
        open: &mut Vec<&'n Node>,
    ) {
        let Some(JsonAggConstructor { output, agg_filter, agg_order, over, location }) = constructor else {
            return self.unknown("this JSON aggregate", None);
        };
        self.json_syntax(name, *location);
        self.json_output(output.as_ref());
        open.extend(agg_filter.as_deref());
        for sort in agg_order {
            self.sorted(sort, &[], env);
        }
        if let Some(window) = over {
            self.window(window, env);
        }
    }

    /// JSON_TABLE in FROM.
    pub(super) fn json_table<'n>(&mut self, table: &'n JsonTable, open: &mut Vec<&'n Node>) {
        let JsonTable { context_item, pathspec, passing, columns, on_error, alias: _, lateral: _, location } =
            table;
        self.json_syntax("json_table", *location);
        json_value(context_item.as_deref(), open);
        path(pathspec.as_deref(), open);
        self.json_passing(passing, open);
        json_behaviour(on_error.as_deref(), open);
        let mut nested = vec![columns];
        while let Some(columns) = nested.pop() {
            for column in columns {
                let Some(NodeEnum::JsonTableColumn(column)) = inner(column) else {
                    self.unknown("this column of JSON_TABLE", None);
                    continue;
                };
                let JsonTableColumn {
                    coltype: _,
                    name: _,
                    type_name,
                    pathspec,
                    format: _,
                    wrapper: _,
                    quotes: _,
                    columns,
                    on_empty,
                    on_error,
                    location: _,
                } = column.as_ref();
                self.optional_type(type_name.as_ref());
                path(pathspec.as_deref(), open);
                json_behaviour(on_empty.as_deref(), open);
                json_behaviour(on_error.as_deref(), open);
                nested.push(columns);
            }
        }
    }
}

fn path<'n>(spec: Option<&'n JsonTablePathSpec>, open: &mut Vec<&'n Node>) {
    if let Some(JsonTablePathSpec { string, name: _, name_location: _, location: _ }) = spec {
        open.extend(string.as_deref());
    }
}

fn json_value<'n>(value: Option<&'n JsonValueExpr>, open: &mut Vec<&'n Node>) {
    if let Some(JsonValueExpr { raw_expr, formatted_expr, format: _ }) = value {
        open.extend(raw_expr.as_deref());
        open.extend(formatted_expr.as_deref());
    }
}

fn json_behaviour<'n>(behaviour: Option<&'n JsonBehavior>, open: &mut Vec<&'n Node>) {
    if let Some(JsonBehavior { btype: _, expr, coerce: _, location: _ }) = behaviour {
        open.extend(expr.as_deref());
    }
}

fn json_pair<'n>(pair: &'n JsonKeyValue, open: &mut Vec<&'n Node>) {
    let JsonKeyValue { key, value } = pair;
    open.extend(key.as_deref());
    json_value(value.as_deref(), open);
}
