//! Changes of the schema.
//!
//! Those whose objects can be named in full may be proposed to a person. All others carry an objection of
//! their own: a proposal must say everything that it touches.

use dbagent_core::Effects;
use dbagent_core::guard::{Finding, Rule, StatementClass};
use sqlparser::ast::{
    AlterTable, AlterTableOperation, ColumnDef, ColumnOption, CreateIndex, CreateTable, CreateTableLike,
    CreateTableLikeKind, CreateTableOptions, CreateView, HiveDistributionStyle, ObjectName, ObjectType,
    OnCommit, RenameTable, RenameTableNameKind, Statement, TableConstraint, Truncate,
};

use super::Walk;

impl Walk<'_> {
    /// A change of the schema whose parts are not all judged: refused, whatever it is.
    pub(super) fn unlisted(&mut self, statement: &Statement) -> StatementClass {
        self.schema_effect();
        self.object_to_change();
        self.whole(statement, true);
        StatementClass::Schema
    }

    fn schema_effect(&mut self) {
        self.effect(Effects::SCHEMA);
        self.parsed.columns_known = false;
    }

    fn object_to_change(&mut self) {
        let title = self.under.title.to_owned();
        self.finding(
            Finding::new(
                Rule::SchemaChange,
                format!("what {title} touches cannot be told in full, so nobody is asked to approve it"),
                None,
            )
            .advice("Leave changes of this kind to the operator of the database."),
        );
    }

    /// Walks all parts of a statement that need no frame of their own.
    pub(super) fn whole(&mut self, statement: &Statement, written: bool) {
        self.scope.push_frame();
        self.parts_of_statement(statement, written);
        self.scope.pop_frame();
    }

    pub(super) fn create_table(&mut self, create: &CreateTable, statement: &Statement) -> StatementClass {
        self.schema_effect();
        self.whole(statement, true);
        if create.query.is_some() {
            self.effect(Effects::READ | Effects::WRITE);
        }
        // `name` and `partition_of` are known to the visitor, these are not.
        if let Some(CreateTableLikeKind::Parenthesized(like) | CreateTableLikeKind::Plain(like)) =
            &create.like
        {
            let CreateTableLike { name, defaults: _ } = like;
            self.named_object(name, false);
        }
        for name in create.clone.iter().chain(create.inherits.iter().flatten()) {
            self.named_object(name, false);
        }
        for column in &create.columns {
            self.column_def(column);
        }
        for constraint in &create.constraints {
            self.constraint(constraint);
        }
        if !is_plain(create) {
            self.object_to_change();
        }
        StatementClass::Schema
    }

    fn column_def(&mut self, column: &ColumnDef) {
        for option in &column.options {
            match &option.option {
                ColumnOption::ForeignKey(key) => {
                    self.named_object(&key.foreign_table, false);
                }
                ColumnOption::Null
                | ColumnOption::NotNull
                | ColumnOption::Default(_)
                | ColumnOption::PrimaryKey(_)
                | ColumnOption::Unique(_)
                | ColumnOption::Check(_)
                | ColumnOption::DialectSpecific(_)
                | ColumnOption::CharacterSet(_)
                | ColumnOption::Collation(_)
                | ColumnOption::Comment(_)
                | ColumnOption::OnUpdate(_)
                | ColumnOption::Generated { .. }
                | ColumnOption::Identity(_)
                | ColumnOption::OnConflict(_)
                | ColumnOption::Invisible
                | ColumnOption::Srid(_) => {}
                ColumnOption::Materialized(_)
                | ColumnOption::Ephemeral(_)
                | ColumnOption::Alias(_)
                | ColumnOption::Options(_)
                | ColumnOption::GenericOptions(_)
                | ColumnOption::Policy(_)
                | ColumnOption::Tags(_) => self.object_to_change(),
            }
        }
    }

    fn constraint(&mut self, constraint: &TableConstraint) {
        match constraint {
            TableConstraint::ForeignKey(key) => {
                self.named_object(&key.foreign_table, false);
            }
            TableConstraint::Unique(_)
            | TableConstraint::PrimaryKey(_)
            | TableConstraint::Check(_)
            | TableConstraint::Index(_)
            | TableConstraint::FulltextOrSpatial(_)
            | TableConstraint::PrimaryKeyUsingIndex(_)
            | TableConstraint::UniqueUsingIndex(_) => {}
            TableConstraint::Exclude(_) => self.object_to_change(),
        }
    }

    pub(super) fn create_view(&mut self, create: &CreateView, statement: &Statement) -> StatementClass {
        self.schema_effect();
        self.whole(statement, true);
        if create.materialized {
            self.effect(Effects::READ | Effects::WRITE);
        }
        // Options, the target of a ClickHouse view, the account that a view runs as.
        let plain = matches!(create.options, CreateTableOptions::None)
            && create.to.is_none()
            && create.params.is_none();
        if !plain {
            self.object_to_change();
        }
        StatementClass::Schema
    }

    pub(super) fn create_index(&mut self, create: &CreateIndex, statement: &Statement) -> StatementClass {
        self.schema_effect();
        self.whole(statement, true);
        if !create.alter_options.is_empty() {
            self.object_to_change();
        }
        StatementClass::Schema
    }

    pub(super) fn alter_table(&mut self, alter: &AlterTable, statement: &Statement) -> StatementClass {
        self.schema_effect();
        self.whole(statement, true);
        for operation in &alter.operations {
            match operation {
                AlterTableOperation::AddColumn { column_def, .. } => self.column_def(column_def),
                AlterTableOperation::AddConstraint { constraint, .. } => self.constraint(constraint),
                AlterTableOperation::RenameTable {
                    table_name: RenameTableNameKind::As(name) | RenameTableNameKind::To(name),
                } => {
                    self.named_object(name, true);
                }
                AlterTableOperation::DropColumn { .. }
                | AlterTableOperation::DropConstraint { .. }
                | AlterTableOperation::DropPrimaryKey { .. }
                | AlterTableOperation::DropForeignKey { .. }
                | AlterTableOperation::DropIndex { .. }
                | AlterTableOperation::RenameColumn { .. }
                | AlterTableOperation::RenameConstraint { .. }
                | AlterTableOperation::AlterColumn { .. } => {}
                // Partitions, triggers, rules, policies, owners, storage.
                _ => self.object_to_change(),
            }
        }
        if alter.location.is_some() || alter.table_type.is_some() {
            self.object_to_change();
        }
        StatementClass::Schema
    }

    /// DROP of these names.
    pub(super) fn drop_objects(
        &mut self,
        object_type: ObjectType,
        names: &[ObjectName],
        table: Option<&ObjectName>,
        statement: &Statement,
    ) -> StatementClass {
        self.schema_effect();
        match object_type {
            ObjectType::Table
            | ObjectType::ForeignTable
            | ObjectType::View
            | ObjectType::MaterializedView => {
                for name in names {
                    self.named_object(name, true);
                }
            }
            // The index itself is no object of ours; its table is, where it is named.
            ObjectType::Index if table.is_some() => {
                if let Some(table) = table {
                    self.named_object(table, true);
                }
            }
            ObjectType::Index
            | ObjectType::Collation
            | ObjectType::Schema
            | ObjectType::Database
            | ObjectType::Role
            | ObjectType::Group
            | ObjectType::Sequence
            | ObjectType::Stage
            | ObjectType::Type
            | ObjectType::User
            | ObjectType::Stream
            | ObjectType::Warehouse => self.object_to_change(),
        }
        self.whole(statement, true);
        StatementClass::Schema
    }

    pub(super) fn truncate(&mut self, truncate: &Truncate) -> StatementClass {
        // Empties the table, and on many engines commits first.
        self.effect(Effects::WRITE | Effects::SCHEMA);
        for target in &truncate.table_names {
            let objects: Vec<_> = self.named_object(&target.name, true).into_iter().collect();
            self.star(objects, None);
        }
        if truncate.cascade.is_some() {
            self.object_to_change();
        }
        self.exprs(truncate.partitions.iter().flatten());
        StatementClass::Delete
    }

    pub(super) fn rename_tables(&mut self, renames: &[RenameTable]) -> StatementClass {
        self.schema_effect();
        for RenameTable { old_name, new_name } in renames {
            self.named_object(old_name, true);
            self.named_object(new_name, true);
        }
        StatementClass::Schema
    }
}

/// Whether a CREATE TABLE has no clause beyond columns, constraints, a query and what only says how the table
/// is kept.
fn is_plain(create: &CreateTable) -> bool {
    let CreateTable {
        or_replace: _,
        temporary: _,
        unlogged: _,
        external,
        dynamic,
        global: _,
        if_not_exists: _,
        transient: _,
        volatile: _,
        iceberg,
        snapshot,
        name: _,
        columns: _,
        constraints: _,
        hive_distribution,
        hive_formats,
        table_options,
        file_format,
        location,
        query: _,
        sqlite_table_options: _,
        like: _,
        clone: _,
        version,
        comment: _,
        on_commit,
        on_cluster,
        primary_key: _,
        order_by: _,
        partition_by: _,
        cluster_by: _,
        clustered_by,
        inherits: _,
        partition_of: _,
        for_values: _,
        copy_grants,
        enable_schema_evolution,
        change_tracking,
        data_retention_time_in_days,
        max_data_extension_time_in_days,
        default_ddl_collation: _,
        with_aggregation_policy,
        with_row_access_policy,
        with_storage_lifecycle_policy,
        with_tags,
        external_volume,
        with_connection,
        base_location,
        catalog,
        catalog_sync,
        storage_serialization_policy,
        target_lag,
        warehouse,
        refresh_mode,
        initialize,
        require_user,
        diststyle: _,
        distkey: _,
        sortkey: _,
        backup,
        multiset: _,
        fallback,
        with_data: _,
    } = create;
    let reaches_out = *external
        || *iceberg
        || hive_formats.is_some()
        || file_format.is_some()
        || location.is_some()
        || external_volume.is_some()
        || with_connection.is_some()
        || base_location.is_some()
        || catalog.is_some()
        || catalog_sync.is_some();
    let runs_later = *dynamic
        || target_lag.is_some()
        || warehouse.is_some()
        || refresh_mode.is_some()
        || initialize.is_some()
        || matches!(on_commit, Some(OnCommit::DeleteRows | OnCommit::Drop));
    let is_governed = with_aggregation_policy.is_some()
        || with_row_access_policy.is_some()
        || with_storage_lifecycle_policy.is_some()
        || with_tags.is_some()
        || *copy_grants
        || *require_user;
    let is_special = *snapshot
        || version.is_some()
        || on_cluster.is_some()
        || clustered_by.is_some()
        || enable_schema_evolution.is_some()
        || change_tracking.is_some()
        || data_retention_time_in_days.is_some()
        || max_data_extension_time_in_days.is_some()
        || storage_serialization_policy.is_some()
        || backup.is_some()
        || fallback.is_some()
        || !matches!(hive_distribution, HiveDistributionStyle::NONE)
        || !matches!(table_options, CreateTableOptions::None | CreateTableOptions::Plain(_));
    !(reaches_out || runs_later || is_governed || is_special)
}
