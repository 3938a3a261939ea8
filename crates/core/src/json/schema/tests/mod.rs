//! What tables and validators say of the same values.

mod agreement;
