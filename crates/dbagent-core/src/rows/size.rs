//! How many bytes the values of an array take.
//!
//! What the array holds beyond them (spare room, the rest of a shared buffer) is not part of a result. Counted
//! for every batch, so that the common types are counted without making anything.

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;

/// Bytes of the values that an array shows, with the marks of NULL and the offsets of texts.
pub(super) fn of(array: &dyn Array) -> usize {
    let len = array.len();
    let nulls = if array.null_count() > 0 { len.div_ceil(8) } else { 0 };
    let values = match array.data_type() {
        DataType::Boolean => len.div_ceil(8),
        DataType::FixedSizeBinary(width) => len * usize::try_from(*width).unwrap_or_default(),
        DataType::Utf8 => texts(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => texts(array.as_string::<i64>().value_offsets()),
        DataType::Binary => texts(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => texts(array.as_binary::<i64>().value_offsets()),
        other => match other.primitive_width() {
            Some(width) => len * width,
            None => return slow(array),
        },
    };
    nulls + values
}

/// Bytes between the first offset and the last, and of the offsets themselves.
fn texts<T: ArrowNativeType>(offsets: &[T]) -> usize {
    let end = |offset: Option<&T>| offset.map_or(0, |offset| offset.as_usize());
    end(offsets.last()).saturating_sub(end(offsets.first())) + size_of_val(offsets)
}

fn slow(array: &dyn Array) -> usize {
    array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, FixedSizeBinaryArray,
        Float64Array, Int8Array, Int64Array, LargeBinaryArray, LargeStringArray, ListArray, NullArray,
        StringArray, StringViewArray, TimestampMicrosecondArray,
    };

    use super::*;

    #[test]
    fn the_quick_count_is_the_slow_one() {
        let texts = ["", "a", "a longer one than fits into a view", "ü"].map(Some);
        let bytes: Vec<Option<&[u8]>> = texts.iter().map(|t| t.map(str::as_bytes)).collect();
        let mut gaps = texts.to_vec();
        gaps.push(None);
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![1, 2, 3, 4, 5])),
            Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)])),
            Arc::new(Int8Array::from_iter_values(0..100)),
            Arc::new(Float64Array::from(vec![0.5; 9])),
            Arc::new(Decimal128Array::from(vec![Some(1), None, Some(2)])),
            Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3]).with_timezone("UTC")),
            Arc::new(BooleanArray::from(vec![true; 17])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(StringArray::from(gaps.clone())),
            Arc::new(LargeStringArray::from(gaps.clone())),
            Arc::new(BinaryArray::from(bytes.clone())),
            Arc::new(LargeBinaryArray::from(bytes)),
            Arc::new(FixedSizeBinaryArray::try_from_iter([[1_u8; 16], [2; 16], [3; 16]].iter()).unwrap()),
            Arc::new(StringViewArray::from(gaps)),
            Arc::new(NullArray::new(7)),
            Arc::new(vec![Some("x"), None, Some("x")].into_iter().collect::<DictionaryArray<Int32Type>>()),
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
                Some(vec![Some(1), None]),
                None,
                Some(vec![]),
            ])),
        ];
        for array in arrays {
            for (from, len) in [(0, array.len()), (1, array.len() - 1), (1, 1), (0, 0)] {
                let part = array.slice(from, len);
                let kind = array.data_type();
                assert_eq!(of(&part), slow(&part), "{kind}: {len} from {from}");
            }
        }
    }
}
