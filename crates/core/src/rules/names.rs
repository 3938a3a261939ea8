//! Enums whose variants have names.

/// Declares an enum and the name of each variant, also as text and in JSON. `all` adds the list of
/// all variants and the search by name.
macro_rules! names {
    (
        $(#[$of_type:meta])*
        pub enum $type:ident {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$of_type])*
        pub enum $type {
            $($(#[$of_variant])* #[serde(rename = $name)] $variant,)+
        }

        impl $type {
            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.name())
            }
        }
    };
    (
        all
        $(#[$of_type:meta])*
        pub enum $type:ident {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        names! {
            $(#[$of_type])*
            pub enum $type {
                $($(#[$of_variant])* $variant = $name,)+
            }
        }

        impl $type {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The one with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|it| it.name() == name)
            }
        }
    };
}

pub(crate) use names;
