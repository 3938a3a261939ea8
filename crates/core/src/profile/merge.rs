//! A profile with what it inherits. `build.rs` compiles this file, too.

use serde_json::Value;

use crate::json::pointer;

/// `profile`, without its `extends`, and all that it inherits from `base`. The error is the place
/// of a `null` that removes nothing.
pub(crate) fn extended(mut base: Value, profile: Value) -> Result<Value, String> {
    if let Some(members) = base.as_object_mut() {
        members.remove("$id");
    }
    if profile.get("schema").is_some()
        && let Some(tags) = base.get_mut("tags").and_then(Value::as_object_mut)
    {
        // They refer to the schema that is replaced.
        tags.remove("schemas");
    }
    merge(&mut base, profile, "")?;
    Ok(base)
}

/// Applies a patch as in RFC 7396: merges objects, replaces everything else, and removes what is
/// `null`. A schema is replaced as a whole. A `null` that removes nothing is an error: it is a
/// slip, or the base has changed.
fn merge(target: &mut Value, patch: Value, place: &str) -> Result<(), String> {
    let Value::Object(patch) = patch else {
        *target = patch;
        return Ok(());
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(members) = target else { return Ok(()) };
    for (key, value) in patch {
        let place = pointer::joined(place, &key);
        if value.is_null() {
            members.remove(&key).ok_or(place)?;
        } else if place == "/schema" {
            members.insert(key, value);
        } else {
            merge(members.entry(key).or_insert(Value::Null), value, &place)?;
        }
    }
    Ok(())
}
