//! Images and other binary content in the result of a call: what it is, and never its bytes.

use serde::{Deserialize, Serialize};

use super::Objects;
use crate::limits::MESSAGE_BYTES_MAX;
use crate::profile::path::{Conditions, FirstOf, Scope};
use crate::rules::escape::clipped;

/// Binary content. What the agent does not say is absent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Media {
    /// What it is, by its media type.
    pub kind: MediaKind,
    /// Its media type, such as `image/png`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// What binary content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// Moving pictures.
    Video,
    /// Anything else.
    File,
}

/// Where the completion of a call has binary content.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MediaRule {
    #[serde(default)]
    when: Conditions,
    #[serde(flatten)]
    of: Objects,
    media_type: FirstOf,
    /// The content in Base64, or as a `data:` address.
    data: Option<FirstOf>,
}

impl MediaRule {
    pub(super) fn media(&self, half: Scope<'_>) -> impl Iterator<Item = Media> {
        let holds = self.when.hold(half);
        let objects = holds.then(|| self.of.objects(half)).into_iter().flatten();
        objects.map(|object| self.read(object))
    }

    fn read(&self, at: Scope<'_>) -> Media {
        let media_type = self.media_type.text(at).filter(|it| !it.is_empty());
        let data = self.data.as_ref().and_then(|data| data.find(at)?.as_str());
        Media {
            kind: media_type.as_deref().map_or(MediaKind::File, MediaKind::of),
            media_type: media_type.map(|it| clipped(&it, MESSAGE_BYTES_MAX).into_owned()),
            bytes: data.map(|data| decoded_bytes(&data)),
        }
    }
}

impl MediaKind {
    fn of(media_type: &str) -> Self {
        match media_type.split('/').next() {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            Some("video") => Self::Video,
            _ => Self::File,
        }
    }
}

fn decoded_bytes(data: &str) -> u64 {
    let data = data.split_once(";base64,").map_or(data, |(_, data)| data);
    data.trim_end_matches('=').len() as u64 * 3 / 4
}
