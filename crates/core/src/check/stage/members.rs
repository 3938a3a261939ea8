//! Stage: members of known events that the profile does not know, if they are wanted.

use std::collections::HashMap;

use super::unknown_names::UnknownNames;
use crate::check::contract::Contract;
use crate::facts::TagStatus;
use crate::json::{DescribedMembers, JsonRef};
use crate::limits::TAGS_REMEMBERED_MAX;

/// What is known of the members of each kind of event.
#[derive(Debug, Default)]
pub(crate) struct MembersByTag(HashMap<String, DescribedMembers>);

/// Compares the members of events with the profile's schema, at every depth that it describes.
#[derive(Debug)]
pub(crate) struct MemberCheck<'c> {
    contract: &'c Contract,
    pub(crate) names: UnknownNames,
}

impl<'c> MemberCheck<'c> {
    pub(crate) fn new(contract: &'c Contract) -> Self {
        Self { contract, names: UnknownNames::default() }
    }

    /// The pointers to the members that the profile does not know.
    pub(crate) fn unknown(
        &self,
        (tag, status): (&str, TagStatus),
        event: JsonRef<'_>,
        MembersByTag(by_tag): &mut MembersByTag,
    ) -> Vec<String> {
        let mut unknown = Vec::new();
        if matches!(status, TagStatus::Unknown | TagStatus::Notice) {
            return unknown;
        }
        let Some(schema) = self.contract.own_schema(tag) else { return unknown };
        if !by_tag.contains_key(tag) {
            if by_tag.len() >= TAGS_REMEMBERED_MAX {
                by_tag.clear();
            }
            by_tag.insert(tag.to_owned(), schema.described_members());
        }
        let Some(described) = by_tag.get_mut(tag) else { return unknown };
        let tags = &self.contract.profile().tags;
        described.unknown(schema.document(), event, &mut |pointer| {
            if !tags.knows_member(tag, pointer) {
                unknown.push(pointer.to_owned());
            }
        });
        unknown
    }

    pub(crate) fn count(&mut self, tag: &str, line: u64, unknown: &[String]) {
        for pointer in unknown {
            self.names.count(tag, pointer, line);
        }
    }
}
