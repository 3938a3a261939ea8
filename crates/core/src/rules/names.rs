//! Enums whose variants have names.

/// Declares the name of each variant, and with `all` the list of all and the search by name.
macro_rules! names {
    ($type:ident { $($variant:ident $name:literal)+ }) => {
        impl $type {
            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
    (all $type:ident { $($variant:ident $name:literal)+ }) => {
        impl $type {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The one with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|it| it.name() == name)
            }
        }

        names!($type { $($variant $name)+ });
    };
}

pub(crate) use names;
