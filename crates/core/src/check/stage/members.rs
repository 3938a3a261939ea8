//! Stage: members of known events that the profile does not know, if they are wanted.

use std::collections::HashMap;

use super::unknown_names::UnknownNames;
use crate::check::contract::Contract;
use crate::facts::TagStatus;
use crate::json::{DescribedMembers, JsonRef};
use crate::limits::TAGS_REMEMBERED_MAX;

/// Compares the members of events with the profile's schema, at every depth that it describes.
#[derive(Debug)]
pub(crate) struct MemberCheck<'c> {
    contract: &'c Contract,
    by_tag: HashMap<String, DescribedMembers<'c>>,
    pub(crate) names: UnknownNames,
}

impl<'c> MemberCheck<'c> {
    pub(crate) fn new(contract: &'c Contract) -> Self {
        Self { contract, by_tag: HashMap::new(), names: UnknownNames::default() }
    }

    /// The pointers to the members that the profile does not know.
    pub(crate) fn unknown(
        &mut self,
        tag: &str,
        status: TagStatus,
        event: JsonRef<'_>,
    ) -> Vec<String> {
        let mut unknown = Vec::new();
        if matches!(status, TagStatus::Unknown | TagStatus::Notice) {
            return unknown;
        }
        if !self.by_tag.contains_key(tag) {
            let Some(schema) = self.contract.own_schema(tag) else { return unknown };
            if self.by_tag.len() >= TAGS_REMEMBERED_MAX {
                self.by_tag.clear();
            }
            self.by_tag.insert(tag.to_owned(), schema.described_members());
        }
        let Some(described) = self.by_tag.get_mut(tag) else { return unknown };
        let tags = &self.contract.profile().tags;
        described.unknown(event, &mut String::new(), &mut |pointer| {
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
