//! Columns as an Arrow stream.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use arrow_array::{RecordBatchIterator, StringArray};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table that pandas, polars, DuckDB and others read by the PyCapsule interface of Arrow.
#[pyclass(frozen, module = "ndjson_check._native")]
pub(crate) struct Table(RecordBatch);

fn refused(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// Columns by name, type (`str`, `int`, `float`, `bool`) and values.
    #[new]
    fn new(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (name, kind, values) in columns {
            let (data_type, array): (_, ArrayRef) = match kind.as_str() {
                "str" => {
                    let values: Vec<Option<String>> = values.extract()?;
                    (DataType::Utf8, Arc::new(StringArray::from_iter(values)))
                }
                "int" => {
                    let values: Vec<Option<i128>> = values.extract()?;
                    // One bad number must not cost all tables.
                    let values = values.into_iter().map(|it| it.and_then(|it| it.try_into().ok()));
                    (DataType::Int64, Arc::new(Int64Array::from_iter(values)))
                }
                "float" => {
                    let values: Vec<Option<f64>> = values.extract()?;
                    (DataType::Float64, Arc::new(Float64Array::from_iter(values)))
                }
                "bool" => {
                    let values: Vec<Option<bool>> = values.extract()?;
                    (DataType::Boolean, Arc::new(BooleanArray::from_iter(values)))
                }
                _ => return Err(refused(format_args!("no such type of a column: {kind}"))),
            };
            fields.push(Field::new(name, data_type, true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        RecordBatch::try_new(schema, arrays).map(Self).map_err(refused)
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let schema = self.0.schema();
        let names: Vec<&str> = schema.fields().iter().map(|it| it.name().as_str()).collect();
        format!("<Table of {} rows: {}>", self.0.num_rows(), names.join(", "))
    }

    /// The names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the wish for another schema.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
