//! Secrets that only the name of their vendor next to them shows.

use crate::classes::Class::{self, Alnum, Dotted, Hex, Token, Url};

/// A part of a name, and what its secrets consist of: the fewest and the most characters.
pub(crate) struct Vendor {
    pub(crate) name: &'static [u8],
    pub(crate) shapes: &'static [(Class, usize, usize)],
}

const UUID: (Class, usize, usize) = (Url, 36, 36);

const fn vendor(name: &'static str, shapes: &'static [(Class, usize, usize)]) -> Vendor {
    Vendor { name: name.as_bytes(), shapes }
}

/// In the order of the alphabet.
pub(crate) const VENDORS: &[Vendor] = &[
    vendor("adafruit", &[(Url, 32, 32)]),
    vendor("adobe", &[(Hex, 32, 32)]),
    vendor("airtable", &[(Alnum, 17, 17)]),
    vendor("algolia", &[(Alnum, 32, 32)]),
    vendor("alibaba", &[(Alnum, 30, 30)]),
    vendor("artifactory", &[(Alnum, 64, 64), (Alnum, 73, 73)]),
    vendor("asana", &[(Alnum, 32, 32)]),
    vendor("atlassian", &[(Alnum, 24, 24)]),
    vendor("beamer", &[(Dotted, 46, 46)]),
    vendor("bintray", &[(Alnum, 64, 64), (Alnum, 73, 73)]),
    vendor("bitbucket", &[(Alnum, 32, 32), (Dotted, 64, 64)]),
    vendor("bittrex", &[(Alnum, 32, 32)]),
    vendor("cloudflare", &[(Hex, 37, 37), (Url, 40, 40)]),
    vendor("co_api_key", &[(Alnum, 40, 40)]),
    vendor("codecov", &[(Alnum, 32, 32)]),
    vendor("cohere", &[(Alnum, 40, 40)]),
    vendor("coinbase", &[(Url, 64, 64)]),
    vendor("confluence", &[(Alnum, 24, 24)]),
    vendor("confluent", &[(Alnum, 16, 16), (Alnum, 64, 64)]),
    vendor("contentful", &[(Dotted, 43, 43)]),
    vendor("contribsys", &[(Token, 17, 17)]),
    vendor("datadog", &[(Alnum, 40, 40)]),
    vendor("discord", &[(Dotted, 32, 32), (Hex, 64, 64)]),
    vendor("droneci", &[(Alnum, 32, 32)]),
    vendor("dropbox", &[(Alnum, 15, 15), (Dotted, 64, 64)]),
    vendor("etsy", &[(Alnum, 24, 24)]),
    vendor("facebook", &[(Hex, 32, 32)]),
    vendor("fastly", &[(Dotted, 32, 32)]),
    vendor("finicity", &[(Alnum, 20, 20), (Hex, 32, 32)]),
    vendor("finnhub", &[(Alnum, 20, 20)]),
    vendor("flickr", &[(Alnum, 32, 32)]),
    vendor("freshbooks", &[(Alnum, 64, 64)]),
    vendor("gitter", &[(Url, 40, 40)]),
    vendor("gocardless", &[(Dotted, 45, 45)]),
    vendor("heroku", &[UUID]),
    vendor("hubspot", &[UUID]),
    vendor("intercom", &[(Dotted, 60, 60)]),
    vendor("jfrog", &[(Alnum, 64, 64), (Alnum, 73, 73)]),
    vendor("jira", &[(Alnum, 24, 24)]),
    vendor("kraken", &[(Token, 80, 90)]),
    vendor("kucoin", &[(Hex, 24, 24), UUID]),
    vendor("launchdarkly", &[(Dotted, 40, 40)]),
    vendor("linear", &[(Hex, 32, 32)]),
    vendor("linked-in", &[(Alnum, 14, 14), (Alnum, 16, 16)]),
    vendor("linked_in", &[(Alnum, 14, 14), (Alnum, 16, 16)]),
    vendor("linkedin", &[(Alnum, 14, 14), (Alnum, 16, 16)]),
    vendor("looker", &[(Alnum, 20, 20), (Alnum, 24, 24)]),
    vendor("mailchimp", &[(Url, 37, 37)]),
    vendor("mailgun", &[(Url, 36, 36), (Url, 39, 39), (Url, 50, 50)]),
    vendor("mapbox", &[(Dotted, 86, 86)]),
    vendor("mattermost", &[(Alnum, 26, 26)]),
    vendor("meraki", &[(Hex, 40, 40)]),
    vendor("message-bird", &[(Alnum, 25, 25), UUID]),
    vendor("message_bird", &[(Alnum, 25, 25), UUID]),
    vendor("messagebird", &[(Alnum, 25, 25), UUID]),
    vendor("netlify", &[(Dotted, 40, 46)]),
    vendor("new-relic", &[(Alnum, 64, 64)]),
    vendor("new_relic", &[(Alnum, 64, 64)]),
    vendor("newrelic", &[(Alnum, 64, 64)]),
    vendor("new-york-times", &[(Dotted, 32, 32)]),
    vendor("newyorktimes", &[(Dotted, 32, 32)]),
    vendor("nytimes", &[(Dotted, 32, 32)]),
    vendor("okta", &[(Dotted, 42, 42)]),
    vendor("plaid", &[(Alnum, 24, 24), (Alnum, 30, 30)]),
    vendor("private-ai", &[(Alnum, 32, 32)]),
    vendor("private_ai", &[(Alnum, 32, 32)]),
    vendor("privateai", &[(Alnum, 32, 32)]),
    vendor("rapidapi", &[(Url, 50, 50)]),
    vendor("sendbird", &[UUID, (Hex, 40, 40)]),
    vendor("sentry", &[(Hex, 64, 64)]),
    vendor("snyk", &[UUID]),
    vendor("sonar", &[(Dotted, 40, 44)]),
    vendor("squarespace", &[UUID]),
    vendor("sumo", &[(Alnum, 14, 14), (Alnum, 64, 64)]),
    vendor("travis", &[(Alnum, 22, 22)]),
    vendor("twitch", &[(Alnum, 30, 30)]),
    vendor(
        "twitter",
        &[(Alnum, 25, 25), (Alnum, 45, 45), (Alnum, 50, 50), (Url, 36, 66), (Token, 100, 130)],
    ),
    vendor("xray", &[(Alnum, 64, 64), (Alnum, 73, 73)]),
    vendor("zendesk", &[(Alnum, 40, 40)]),
];

/// The fewest characters of any of these secrets.
pub(crate) const VENDOR_BYTES_MIN: usize = 14;

/// Longest text from a vendor's name to what separates it from the value, in bytes.
const REACH_BYTES: usize = 64;

/// What the secrets of a vendor look like whose name is in the last words of a text.
pub(crate) fn shapes(before: &[u8]) -> impl Iterator<Item = &'static (Class, usize, usize)> {
    let before = &before[before.len().saturating_sub(REACH_BYTES)..];
    let places = 0..before.len();
    places.flat_map(move |at| vendors_at(&before[at..])).flat_map(|it| it.shapes)
}

fn vendors_at(text: &[u8]) -> impl Iterator<Item = &'static Vendor> {
    let first = text[0].to_ascii_lowercase();
    let start = VENDORS.partition_point(|it| it.name[0] < first);
    VENDORS[start..].iter().take_while(move |it| it.name[0] == first).filter(move |it| {
        text.get(..it.name.len()).is_some_and(|it2| it2.eq_ignore_ascii_case(it.name))
    })
}
