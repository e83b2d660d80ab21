//! What comes back is what is there.

use super::super::kit::{Kit, Outcome, ensure, need_some};
use super::super::material::Expected;

async fn all(kit: &Kit, expected: &[Expected]) -> Outcome {
    let session = kit.open().await?;
    for expected in expected {
        kit.expect(&session, expected).await?;
    }
    Ok(())
}

pub(super) async fn types(kit: &Kit) -> Outcome {
    all(kit, need_some(&kit.material.types, "types")?).await
}

pub(super) async fn nulls(kit: &Kit) -> Outcome {
    let nulls = need_some(&kit.material.nulls, "nulls")?;
    let some = |e: &Expected| e.rows.iter().flatten().any(|v| matches!(v, super::super::Value::Null));
    ensure!(nulls.iter().all(some), "the fixture expects no NULL in `nulls`");
    all(kit, nulls).await
}

pub(super) async fn empty_results(kit: &Kit) -> Outcome {
    let empty = need_some(&kit.material.empty, "empty")?;
    ensure!(
        empty.iter().all(|e| e.rows.is_empty() && !e.columns.is_empty()),
        "the fixture expects rows, or no columns, in `empty`"
    );
    all(kit, empty).await
}

pub(super) async fn mixed_columns(kit: &Kit) -> Outcome {
    all(kit, need_some(&kit.material.mixed, "mixed")?).await
}

pub(super) async fn nested_values(kit: &Kit) -> Outcome {
    all(kit, need_some(&kit.material.nested, "nested")?).await
}
