//! Names that are meant to break something: they are data like everything else.

use dbagent_core::catalog::Page;

use super::super::kit::{Kit, Outcome, Stop, ensure, fail, need, need_some, told};
use super::super::value::Value;

pub(super) async fn hostile_identifiers(kit: &Kit) -> Outcome {
    let hostile = need_some(&kit.material.hostile, "hostile")?;
    let session = kit.open().await?;
    let failed = |e: dbagent_core::Error| Stop::Failed(told(&e));
    let everything = Page { offset: 0, size: 10_000 };
    let listed = session.objects(None, everything, &kit.call()).await.map_err(failed)?;
    for object in hostile {
        let name = &object.name;
        let Some(summary) = listed.objects.iter().find(|o| o.name.name == name.name) else {
            fail!("{:?} is not listed", name.name)
        };
        // As the test wrote it, and as the list gave it.
        for asked in [name, &summary.name] {
            let described = session
                .describe(std::slice::from_ref(asked), &kit.call())
                .await
                .map_err(|e| Stop::Failed(format!("describing {:?}: {}", name.name, told(&e))))?;
            let Some(found) = described.found.first() else { fail!("{asked:?} is not described") };
            let columns: Vec<&str> = found.columns.iter().map(|c| c.name.as_str()).collect();
            ensure!(
                columns == object.columns,
                "the columns of {:?} are described as {columns:?}, expected {:?}",
                name.name,
                object.columns
            );
        }
        // A pattern is a part of a name, or has wild cards of its own.
        if !name.name.contains(['*', '?']) {
            let found = session.objects(Some(&name.name), everything, &kit.call()).await.map_err(failed)?;
            ensure!(
                found.objects.iter().any(|o| o.name == summary.name),
                "the pattern {:?} does not find the object of that name",
                name.name
            );
        }
    }
    kit.works(&session, "after hostile names").await
}

pub(super) async fn count_and_sample(kit: &Kit) -> Outcome {
    let hostile = need_some(&kit.material.hostile, "hostile")?;
    let session = kit.open().await?;
    for object in hostile {
        let name = &object.name;
        let count = need(kit.dialect().count_request(name), "count request")?;
        let counted = kit.table(&session, &count, Some(10)).await?;
        ensure!(
            counted.rows.len() == 1
                && counted
                    .rows
                    .iter()
                    .flatten()
                    .eq([&Value::Int(i64::try_from(object.rows).unwrap_or(i64::MAX))]),
            "{:?} is counted as {:?}, it has {} rows",
            name.name,
            counted.rows,
            object.rows
        );
        let sample = need(kit.dialect().sample_request(name), "sample request")?;
        let sampled = kit.table(&session, &sample, Some(10)).await?;
        ensure!(
            sampled.columns == object.columns && sampled.rows.len() as u64 == object.rows,
            "the sample of {:?} has the columns {:?} and {} rows, expected {:?} and {}",
            name.name,
            sampled.columns,
            sampled.rows.len(),
            object.columns,
            object.rows
        );
    }
    kit.works(&session, "after counting and sampling").await
}
