//! The known formats of secrets. `formats.md` shows the same table with the sources.

use crate::classes::Class;
use crate::randomness::{looks_like_name, looks_random};

/// A format: what a secret begins with, and what follows.
#[derive(Debug)]
pub(crate) struct SecretFormat {
    /// Names it in the replacement.
    pub(crate) name: &'static str,
    pub(crate) prefixes: &'static [&'static str],
    pub(crate) body: TokenShape,
}

/// What follows the prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TokenShape {
    Run(FormatRun),
    /// The rest of a private key in PEM.
    Pem,
    /// `user:password@` in a URL; only the password is a secret.
    Url,
    /// Nothing: the prefix is the secret.
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FormatRun {
    pub(crate) class: Class,
    pub(crate) least: usize,
    /// Whether a longer run is something else.
    pub(crate) is_exact: bool,
    pub(crate) proof: Proof,
    /// Whether the prefix stays, because it is not part of the secret.
    pub(crate) keeps_prefix: bool,
    /// What the secret has before the prefix: the fewest and the most characters.
    pub(crate) before: Option<(Class, usize, usize)>,
}

/// What else a run must show, so that a word of a text is not taken for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    None,
    /// A digit, an equals sign, or a capital letter behind the first character and a small one; and
    /// it is not a name.
    Mixed,
    Random,
    /// Two dots: three parts.
    Dots,
    /// The base64 of `user:password`.
    Pair,
}

const RUN: FormatRun = FormatRun {
    class: Class::Alnum,
    least: 0,
    is_exact: false,
    proof: Proof::None,
    keeps_prefix: false,
    before: None,
};

const fn run(
    name: &'static str,
    prefixes: &'static [&'static str],
    class: Class,
    least: usize,
) -> SecretFormat {
    proven(name, prefixes, class, least, Proof::None)
}

const fn proven(
    name: &'static str,
    prefixes: &'static [&'static str],
    class: Class,
    least: usize,
    proof: Proof,
) -> SecretFormat {
    let run = FormatRun { class, least, proof, ..RUN };
    SecretFormat { name, prefixes, body: TokenShape::Run(run) }
}

/// The prefix may begin other things, too: the length must be right.
const fn exact(
    name: &'static str,
    prefixes: &'static [&'static str],
    class: Class,
    length: usize,
) -> SecretFormat {
    let run = FormatRun { class, least: length, is_exact: true, proof: Proof::Random, ..RUN };
    SecretFormat { name, prefixes, body: TokenShape::Run(run) }
}

/// The fixed part is in the middle.
const fn middle(
    name: &'static str,
    before: (Class, usize, usize),
    prefixes: &'static [&'static str],
    class: Class,
    least: usize,
) -> SecretFormat {
    let run = FormatRun { class, least, before: Some(before), ..RUN };
    SecretFormat { name, prefixes, body: TokenShape::Run(run) }
}

const fn header(
    name: &'static str,
    prefixes: &'static [&'static str],
    least: usize,
    proof: Proof,
) -> SecretFormat {
    let run = FormatRun { class: Class::Token, least, proof, keeps_prefix: true, ..RUN };
    SecretFormat { name, prefixes, body: TokenShape::Run(run) }
}

const AWS: &[&str] = &["AKIA", "ASIA", "ABIA", "ACCA"];
const DOPPLER: &[&str] = &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."];
const FLUTTERWAVE: &[&str] = &["FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-"];
const FLY: &[&str] = &["fo1_", "fm1a_", "fm1r_", "fm2_"];
const GITHUB: &[&str] = &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"];
const GITLAB: &[&str] = &[
    "glpat-",
    "gldt-",
    "glrt-",
    "glcbt-",
    "glptt-",
    "glft-",
    "glagent-",
    "glsoat-",
    "gloas-",
    "glffct-",
    "glimt-",
    "GR1348941",
];
const OPENAI: &[&str] = &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-"];
const PLAID: &[&str] = &["access-sandbox-", "access-development-", "access-production-"];
const PLANETSCALE: &[&str] = &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"];
const PRIVATE: &[&str] = &[
    "-----BEGIN ",
    "-----begin ",
    "---- BEGIN SSH2 ",
    "PuTTY-User-Key-File-2: ",
    "PuTTY-User-Key-File-3: ",
];
/// The base64 of `-----BEGIN PRIVATE`, and of RSA, EC, DSA, OPENSSH, ENCRYPTED and PGP keys.
const PRIVATE_BASE64: &[&str] = &[
    "LS0tLS1CRUdJTiBQUklWQVRF",
    "LS0tLS1CRUdJTiBSU0EgUFJJVkFU",
    "LS0tLS1CRUdJTiBFQyBQUklW",
    "LS0tLS1CRUdJTiBEU0EgUFJJ",
    "LS0tLS1CRUdJTiBPUEVOU1NI",
    "LS0tLS1CRUdJTiBFTkNSWVBU",
    "LS0tLS1CRUdJTiBQR1AgUFJJ",
];
const SENTRY: &[&str] = &["sntrys_", "sntryu_"];
const SHIPPO: &[&str] = &["shippo_live_", "shippo_test_"];
const SHOPIFY: &[&str] = &["shpat_", "shpca_", "shppa_", "shpss_"];
const SLACK: &[&str] =
    &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-", "xoxe.xoxb-", "xoxe.xoxp-"];
const SLACK_HOOKS: &[&str] =
    &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"];
const DISCORD_HOOKS: &[&str] = &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"];
const STRIPE: &[&str] = &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"];

/// Where two formats begin alike, the longer prefix decides.
pub(crate) const FORMATS: &[SecretFormat] = &[
    proven("1password-token", &["A3-"], Class::Url, 36, Proof::Random),
    run("1password-token", &["ops_eyJ"], Class::Token, 100),
    run("adobe-secret", &["p8e-"], Class::Alnum, 32),
    run("age-key", &["AGE-SECRET-KEY-1"], Class::Upper, 58),
    exact("airtable-token", &["pat"], Class::Dotted, 79),
    exact("alibaba-key", &["LTAI"], Class::Alnum, 20),
    run("anthropic-key", &["sk-ant-"], Class::Url, 16),
    exact("artifactory-key", &["AKCp"], Class::Alnum, 69),
    exact("artifactory-key", &["cmVmd"], Class::Alnum, 59),
    run("atlassian-token", &["ATATT3", "ATCTT3"], Class::Dotted, 40),
    middle("authress-key", (Class::Dotted, 12, 50), &[".acc_", ".acc-"], Class::Token, 41),
    run("aws-access-key-id", AWS, Class::Upper, 16),
    exact("aws-access-key-id", &["A3T"], Class::Upper, 17),
    run("aws-bedrock-key", &["ABSK"], Class::Token, 109),
    run("aws-bedrock-key", &["bedrock-api-key-"], Class::Token, 28),
    middle("azure-secret", (Class::Token, 4, 4), &["Q~"], Class::Token, 31),
    exact("clickhouse-key", &["4b1d"], Class::Alnum, 38),
    run("clojars-token", &["CLOJARS_"], Class::Alnum, 60),
    proven("cloudflare-key", &["v1.0-"], Class::Url, 100, Proof::Random),
    run("cursor-key", &["crsr_"], Class::Url, 32),
    run("cursor-key", &["key_"], Class::Hex, 64),
    run("databricks-token", &["dapi"], Class::Hex, 32),
    run("defined-networking-token", &["dnkey-"], Class::Dotted, 60),
    run("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Class::Hex, 64),
    run("discord-webhook", DISCORD_HOOKS, Class::Token, 60),
    run("docker-token", &["dckr_pat_", "dckr_oat_"], Class::Url, 20),
    run("doppler-token", DOPPLER, Class::Dotted, 40),
    proven("dropbox-token", &["sl."], Class::Dotted, 100, Proof::Random),
    run("duffel-token", &["duffel_test_", "duffel_live_"], Class::Dotted, 40),
    run("dynatrace-token", &["dt0c01."], Class::Dotted, 80),
    exact("easypost-key", &["EZAK", "EZTK"], Class::Alnum, 54),
    run("facebook-token", &["EAAM", "EAAC"], Class::Alnum, 100),
    middle("facebook-token", (Class::Digits, 15, 16), &["|", "%"], Class::Url, 27),
    run("figma-token", &["figd_", "figo_"], Class::Url, 40),
    run("flutterwave-key", FLUTTERWAVE, Class::Url, 12),
    run("fly-token", FLY, Class::Token, 40),
    run("frameio-token", &["fio-u-"], Class::Dotted, 60),
    run("github-token", GITHUB, Class::Alnum, 36),
    run("github-token", &["github_pat_"], Class::Url, 22),
    run("gitlab-token", GITLAB, Class::Dotted, 20),
    run("gitlab-token", &["_gitlab_session="], Class::Alnum, 32),
    run("google-api-key", &["AIza"], Class::Url, 35),
    run("google-oauth-token", &["ya29."], Class::Dotted, 20),
    run("google-client-secret", &["GOCSPX-"], Class::Url, 28),
    run("grafana-token", &["glsa_", "glc_"], Class::Token, 32),
    run("grafana-token", &["eyJrIjoi"], Class::Token, 70),
    run("groq-key", &["gsk_"], Class::Alnum, 40),
    proven("harness-key", &["pat.", "sat."], Class::Dotted, 68, Proof::Random),
    run("heroku-key", &["HRKU-AA"], Class::Url, 50),
    run("huggingface-token", &["hf_", "api_org_"], Class::Alnum, 34),
    run("infracost-token", &["ico-"], Class::Alnum, 32),
    run("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], Class::Hex, 64),
    run("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], Class::Url, 32),
    run("linear-key", &["lin_api_", "lin_oauth_"], Class::Alnum, 40),
    run("lob-key", &["live_pub_", "test_pub_"], Class::Hex, 31),
    exact("lob-key", &["live_", "test_"], Class::Hex, 35),
    proven("mapbox-token", &["pk.eyJ", "sk.eyJ", "tk.eyJ"], Class::Dotted, 50, Proof::Random),
    middle("maxmind-key", (Class::Url, 36, 36), &["_mmk"], Class::Url, 0),
    run("netlify-token", &["nfp_"], Class::Alnum, 36),
    run("newrelic-key", &["NRAK-"], Class::Alnum, 27),
    run("newrelic-key", &["NRJS-"], Class::Hex, 19),
    run("newrelic-key", &["NRII-"], Class::Url, 32),
    run("notion-token", &["ntn_", "secret_"], Class::Alnum, 43),
    run("npm-token", &["npm_"], Class::Alnum, 36),
    run("nvidia-key", &["nvapi-"], Class::Url, 60),
    exact("octopus-key", &["API-"], Class::Upper, 26),
    proven("openai-key", OPENAI, Class::Url, 20, Proof::Mixed),
    run("openshift-token", &["sha256~"], Class::Url, 43),
    run("perplexity-key", &["pplx-"], Class::Alnum, 40),
    run("plaid-token", PLAID, Class::Url, 36),
    run("planetscale-token", PLANETSCALE, Class::Dotted, 32),
    run("postman-key", &["PMAK-"], Class::Url, 59),
    run("prefect-token", &["pnu_"], Class::Alnum, 36),
    run("pulumi-token", &["pul-"], Class::Hex, 40),
    run("pypi-token", &["pypi-AgE"], Class::Url, 50),
    run("readme-token", &["rdme_"], Class::Alnum, 60),
    run("replicate-token", &["r8_"], Class::Alnum, 37),
    run("rubygems-key", &["rubygems_"], Class::Hex, 48),
    run("scalingo-token", &["tk-us-"], Class::Url, 48),
    run("sendgrid-key", &["SG."], Class::Dotted, 66),
    run("sendinblue-key", &["xkeysib-"], Class::Url, 64),
    run("sentry-token", SENTRY, Class::Token, 40),
    run("settlemint-token", &["sm_aat_", "sm_pat_", "sm_sat_"], Class::Alnum, 16),
    run("shippo-token", SHIPPO, Class::Hex, 40),
    run("shopify-token", SHOPIFY, Class::Hex, 32),
    run("slack-token", SLACK, Class::Url, 8),
    run("slack-token", &["xoxo-"], Class::Url, 12),
    run("slack-webhook", SLACK_HOOKS, Class::Token, 40),
    run("sonar-token", &["squ_", "sqp_", "sqa_"], Class::Dotted, 40),
    run("sourcegraph-token", &["sgp_"], Class::Url, 40),
    run("square-token", &["sq0atp-", "sq0csp-"], Class::Url, 22),
    proven("square-token", &["EAAA"], Class::Url, 22, Proof::Random),
    run("stripe-key", STRIPE, Class::Alnum, 10),
    run("supabase-token", &["sbp_"], Class::Hex, 40),
    run("supabase-token", &["sb_secret_"], Class::Url, 22),
    run("tailscale-key", &["tskey-"], Class::Url, 20),
    run("tavily-key", &["tvly-"], Class::Url, 28),
    run("teams-webhook", &["webhook.office.com/webhookb2/"], Class::Password, 36),
    middle("telegram-token", (Class::Digits, 5, 16), &[":A"], Class::Url, 34),
    middle("terraform-token", (Class::Alnum, 14, 14), &[".atlasv1."], Class::Dotted, 60),
    run("twilio-key", &["SK"], Class::Hex, 32),
    run("typeform-token", &["tfp_"], Class::Dotted, 40),
    run("vault-token", &["hvs.", "hvb.", "hvr."], Class::Url, 24),
    exact("vault-token", &["s."], Class::Alnum, 24),
    run("webhook-secret", &["whsec_"], Class::Token, 10),
    run("xai-key", &["xai-"], Class::Alnum, 60),
    proven("yandex-key", &["t1."], Class::Dotted, 86, Proof::Random),
    run("yandex-key", &["AQVN"], Class::Url, 35),
    exact("yandex-key", &["YC"], Class::Url, 38),
    proven("json-web-token", &["eyJ"], Class::Dotted, 30, Proof::Dots),
    run("json-web-token", &["ZXlK"], Class::Token, 60),
    SecretFormat { name: "private-key", prefixes: PRIVATE, body: TokenShape::Pem },
    SecretFormat { name: "private-key", prefixes: PRIVATE_BASE64, body: TokenShape::Pem },
    header("basic-credentials", &["Basic ", "basic "], 8, Proof::Pair),
    header("bearer-token", &["Bearer ", "bearer "], 16, Proof::Mixed),
    SecretFormat { name: "url-password", prefixes: &["://", ":\\"], body: TokenShape::Url },
];

impl Proof {
    pub(crate) fn holds(self, run: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Mixed => is_mixed(run) && !looks_like_name(run),
            Self::Random => looks_random(run),
            Self::Dots => memchr::memchr_iter(b'.', run).nth(1).is_some(),
            Self::Pair => is_encoded_pair(run),
        }
    }
}

/// How much of a run shows whether it is mixed, in bytes.
const SAMPLE_BYTES: usize = 128;

fn is_mixed(run: &[u8]) -> bool {
    let run = &run[..run.len().min(SAMPLE_BYTES)];
    let behind = run.get(1..).unwrap_or_default();
    run.iter().any(|it| it.is_ascii_digit() || *it == b'=')
        || (run.iter().any(u8::is_ascii_lowercase) && behind.iter().any(u8::is_ascii_uppercase))
}

/// Whether a run is the base64 of a text with a colon.
pub(crate) fn is_encoded_pair(run: &[u8]) -> bool {
    let run = &run[..run.len().min(SAMPLE_BYTES)];
    let digits = &run[..memchr::memchr(b'=', run).unwrap_or(run.len())];
    let mut bits = (0_u32, 0_u32);
    let mut has_colon = false;
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = (bits.0 << 6 | u32::from(value), bits.1 + 6);
        if bits.1 >= 8 {
            bits.1 -= 8;
            let byte = bits.0 >> bits.1 & 0xff;
            bits.0 &= (1 << bits.1) - 1;
            has_colon |= byte == u32::from(b':');
            if byte < 0x20 || byte == 0x7f {
                return false;
            }
        }
    }
    has_colon
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the page shows the formats that exist.
    #[test]
    fn the_page_has_a_row_for_each_format() {
        let page = include_str!("formats.md");
        for format in FORMATS {
            for prefix in format.prefixes {
                let row =
                    page.lines().filter(|it| it.starts_with(&format!("| `{}` |", format.name)));
                let shown = format!("`{}`", prefix.trim_end().replace('|', "\\|"));
                assert!(row.clone().any(|it| it.contains(&shown)), "{} {prefix}", format.name);
            }
        }
        assert_eq!(page.lines().filter(|it| it.starts_with("| `")).count(), FORMATS.len());
    }
}
