//! Events that outlive the bytes which they were read from.

use std::borrow::Cow;

use super::{CompletedCall, Defect, Event, EventCall, EventKind, TextSegment};

trait Owned {
    type Static;

    fn owned(self) -> Self::Static;
}

impl<B: ToOwned + ?Sized + 'static> Owned for Cow<'_, B> {
    type Static = Cow<'static, B>;

    fn owned(self) -> Self::Static {
        Cow::Owned(self.into_owned())
    }
}

impl<T: Owned> Owned for Option<T> {
    type Static = Option<T::Static>;

    fn owned(self) -> Self::Static {
        self.map(T::owned)
    }
}

impl<T: Owned> Owned for Box<T> {
    type Static = Box<T::Static>;

    fn owned(self) -> Self::Static {
        Box::new((*self).owned())
    }
}

/// The members of a type: first those that borrow.
macro_rules! owned {
    ($type:ident { $($borrowed:ident)+; $($plain:ident)* }) => {
        impl Owned for $type<'_> {
            type Static = $type<'static>;

            fn owned(self) -> Self::Static {
                let Self { $($borrowed,)+ $($plain,)* } = self;
                $type { $($borrowed: $borrowed.owned(),)+ $($plain,)* }
            }
        }
    };
}

owned!(Event { kind; at });
owned!(TextSegment { text beginning; segment bytes came_in_deltas });
owned!(Defect { message note call_id demand; rule severity related_line });
owned!(EventCall {
    id tool detail files;
    number parent started_line started_ms kind arguments rule shows_detail shows_files deletes
});
owned!(CompletedCall {
    call result stdout stderr;
    outcome exit_code changes media duration_ms passed_ms said_ms times arguments numbers
    has_blank_result has_cut_result still_runs is_new
});

/// The variants: first those that borrow, then those that do not, then those with members.
macro_rules! owned_kinds {
    (
        $($borrowed:ident)+; $($plain:ident)+;
        $($kind:ident { $($text:ident)*; $($same:ident)* })+
    ) => {
        impl Owned for EventKind<'_> {
            type Static = EventKind<'static>;

            fn owned(self) -> Self::Static {
                match self {
                    $(Self::$borrowed(it) => EventKind::$borrowed(it.owned()),)+
                    $(Self::$plain(it) => EventKind::$plain(it),)+
                    $(Self::$kind { $($text,)* $($same,)* } => {
                        EventKind::$kind { $($text: $text.owned(),)* $($same,)* }
                    })+
                }
            }
        }
    };
}

owned_kinds! {
    Text CallStarted CallUpdated CallCompleted CallUnfinished Defect;
    Session SessionChanged TurnEnded Notice MessageUsage Usage End Cut;
    Turn { ; turn }
    TextDelta { text; segment }
    TextAbandoned { ; segment is_replaced }
    Answer { text; }
    CallCorrected { call; outcome instead_of }
    ThinkingDelta { text; block }
    ThinkingEnd { ; block }
    Plan { ; items }
    Error { message; severity }
}

impl Event<'_> {
    /// The same event, without a borrow.
    pub fn into_owned(self) -> Event<'static> {
        self.owned()
    }
}
