//! The few changes of the schema that a person may be asked about: tables, views, indexes, names.

use dbagent_core::Effects;
use dbagent_core::ObjectName;
use dbagent_core::guard::{Rule, StatementClass};
use pg_query::protobuf::{
    ColumnDef, CommentStmt, Constraint, CreateStmt, CreateTableAsStmt, DropStmt, IndexStmt, ObjectType,
    RenameStmt, TruncateStmt, ViewStmt,
};
use pg_query::{Node, NodeEnum};

use super::scope::{Env, Source};
use super::walk::{Walk, qualified};
use super::{inner, nowhere};

impl Walk<'_> {
    fn changes_schema(&mut self) -> StatementClass {
        self.note(StatementClass::Schema, Effects::SCHEMA);
        StatementClass::Schema
    }

    fn unjudged_change(&mut self) -> StatementClass {
        self.parsed.columns_known = false;
        self.refuse(Rule::SchemaChange, "the statement changes parts of the schema that nobody looks into");
        self.changes_schema()
    }

    pub(super) fn create_table_as(&mut self, create: &CreateTableAsStmt) -> StatementClass {
        let CreateTableAsStmt { query, into, objtype: _, is_select_into: _, if_not_exists: _ } = create;
        match into {
            Some(into) => self.into(into),
            None => self.unknown("CREATE TABLE without a name", None),
        }
        self.effect(Effects::WRITE);
        self.query(query.as_deref(), nowhere());
        self.changes_schema()
    }

    pub(super) fn create_view(&mut self, create: &ViewStmt) -> StatementClass {
        let ViewStmt { view, aliases: _, query, replace: _, options: _, with_check_option: _ } = create;
        if let Some(view) = view {
            self.written_object(view);
        }
        self.query(query.as_deref(), nowhere());
        self.changes_schema()
    }

    pub(super) fn create_table(&mut self, create: &CreateStmt) -> StatementClass {
        let CreateStmt {
            relation,
            table_elts,
            inh_relations,
            partbound,
            partspec,
            of_typename,
            constraints,
            nnconstraints: _,
            options: _,
            oncommit: _,
            tablespacename: _,
            access_method: _,
            if_not_exists: _,
        } = create;
        let scope = self.scopes.open(None);
        let env = Env { scope: Some(scope), ctes: None };
        if let Some(relation) = relation {
            let object = self.written_object(relation);
            self.scopes.add(scope, Source::of(relation.relname.clone(), vec![object]));
        }
        if partbound.is_some() || partspec.is_some() || !inh_relations.is_empty() {
            return self.unjudged_change();
        }
        self.optional_type(of_typename.as_ref());
        for element in table_elts.iter().chain(constraints) {
            match inner(element) {
                Some(NodeEnum::ColumnDef(column)) => self.column_def(column, env),
                Some(NodeEnum::Constraint(constraint)) => self.constraint(constraint, env),
                _ => return self.unjudged_change(),
            }
        }
        self.changes_schema()
    }

    fn column_def(&mut self, column: &ColumnDef, env: Env) {
        self.optional_type(column.type_name.as_ref());
        self.optional(column.raw_default.as_deref(), env);
        for constraint in &column.constraints {
            match inner(constraint) {
                Some(NodeEnum::Constraint(constraint)) => self.constraint(constraint, env),
                _ => self.unknown("this constraint", None),
            }
        }
    }

    fn constraint(&mut self, constraint: &Constraint, env: Env) {
        self.optional(constraint.raw_expr.as_deref(), env);
        self.optional(constraint.where_clause.as_deref(), env);
        if let Some(target) = &constraint.pktable {
            self.relation(target, false);
        }
        if !constraint.exclusions.is_empty() {
            self.unknown("an exclusion constraint", None);
        }
    }

    pub(super) fn create_index(&mut self, create: &IndexStmt) -> StatementClass {
        let scope = self.scopes.open(None);
        let env = Env { scope: Some(scope), ctes: None };
        let mut object = Vec::new();
        if let Some(relation) = &create.relation {
            object.push(self.written_object(relation));
            let source = Source::of(relation.relname.clone(), object.clone());
            self.scopes.add(scope, source);
        }
        for element in create.index_params.iter().chain(&create.index_including_params) {
            match inner(element) {
                Some(NodeEnum::IndexElem(element)) => self.index_element(element, &object, env),
                _ => self.unknown("this part of an index", None),
            }
        }
        self.optional(create.where_clause.as_deref(), env);
        self.changes_schema()
    }

    pub(super) fn drop_objects(&mut self, drop: &DropStmt) -> StatementClass {
        let DropStmt { objects, remove_type, behavior: _, missing_ok: _, concurrent: _ } = drop;
        match ObjectType::try_from(*remove_type) {
            Ok(
                ObjectType::ObjectTable
                | ObjectType::ObjectView
                | ObjectType::ObjectMatview
                | ObjectType::ObjectSequence
                | ObjectType::ObjectForeignTable
                | ObjectType::ObjectIndex,
            ) => {}
            _ => return self.unjudged_change(),
        }
        for object in objects {
            self.named(object);
        }
        self.changes_schema()
    }

    /// An object that is named by a list of words.
    fn named(&mut self, node: &Node) {
        let name = match inner(node) {
            Some(NodeEnum::List(list)) => qualified(&list.items),
            _ => None,
        };
        match name {
            Some(name) => {
                self.object(ObjectName { namespace: name.schema, name: name.name }, true, None);
            }
            None => self.unknown("the name of this object", None),
        }
    }

    pub(super) fn truncate(&mut self, truncate: &TruncateStmt) -> StatementClass {
        let TruncateStmt { relations, restart_seqs: _, behavior: _ } = truncate;
        for relation in relations {
            match inner(relation) {
                Some(NodeEnum::RangeVar(relation)) => {
                    self.written_object(relation);
                }
                _ => self.unknown("this table", None),
            }
        }
        self.note(StatementClass::Delete, Effects::WRITE);
        StatementClass::Delete
    }

    pub(super) fn comment(&mut self, comment: &CommentStmt) -> StatementClass {
        let CommentStmt { objtype, object, comment: _ } = comment;
        match (ObjectType::try_from(*objtype), object) {
            (
                Ok(ObjectType::ObjectTable | ObjectType::ObjectView | ObjectType::ObjectMatview),
                Some(object),
            ) => {
                self.named(object);
                self.changes_schema()
            }
            _ => self.unjudged_change(),
        }
    }

    pub(super) fn rename(&mut self, rename: &RenameStmt) -> StatementClass {
        let RenameStmt {
            rename_type,
            relation_type: _,
            relation,
            object: _,
            subname: _,
            newname: _,
            behavior: _,
            missing_ok: _,
        } = rename;
        match (ObjectType::try_from(*rename_type), relation) {
            (
                Ok(
                    ObjectType::ObjectTable
                    | ObjectType::ObjectView
                    | ObjectType::ObjectMatview
                    | ObjectType::ObjectColumn
                    | ObjectType::ObjectIndex,
                ),
                Some(relation),
            ) => {
                self.written_object(relation);
                self.changes_schema()
            }
            _ => self.unjudged_change(),
        }
    }
}
