//! Stage: members of known events that the profile does not know, if they are wanted.

use std::collections::HashMap;

use serde_json::Value;

use super::unknown_names::UnknownNames;
use crate::check::contract::Contract;
use crate::check::unknown::UnknownKind;
use crate::facts::{Facts, TagStatus};
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
        let names = UnknownNames::new(UnknownKind::Member);
        Self { contract, by_tag: HashMap::new(), names }
    }

    /// An event that was recalled by its shape, and so not parsed.
    pub(crate) fn recalled(&mut self, facts: &Facts<'_>, bytes: &[u8]) {
        if let Ok(event) = serde_json::from_slice::<Value>(bytes) {
            self.observe(facts, JsonRef::tree(&event));
        }
    }

    pub(crate) fn observe(&mut self, facts: &Facts<'_>, event: JsonRef<'_>) {
        if matches!(facts.tag_status, TagStatus::Unknown | TagStatus::Notice) {
            return;
        }
        let tag = facts.tag;
        if !self.by_tag.contains_key(tag) {
            let Some(schema) = self.contract.own_schema(tag) else { return };
            if self.by_tag.len() >= TAGS_REMEMBERED_MAX {
                self.by_tag.clear();
            }
            self.by_tag.insert(tag.to_owned(), schema.described_members());
        }
        let Some(described) = self.by_tag.get_mut(tag) else { return };
        let (tags, names) = (&self.contract.profile().tags, &mut self.names);
        described.unknown(event, &mut String::new(), &mut |pointer| {
            if !tags.knows_member(tag, pointer) {
                names.count(tag, pointer, facts.line);
            }
        });
    }
}
