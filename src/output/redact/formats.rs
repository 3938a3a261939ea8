//! The known formats of secrets. `docs/redaction.md` shows the same table with the sources.

/// A format: what a secret begins with, and what follows.
#[derive(Debug)]
pub(super) struct SecretFormat {
    /// Names it in the replacement.
    pub(super) name: &'static str,
    /// What it begins with: one of these.
    pub(super) prefixes: &'static [&'static str],
    /// Whether the prefix is no part of the secret, and stays.
    pub(super) keeps_prefix: bool,
    pub(super) body: Body,
}

/// What follows the prefix.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body {
    /// A run of characters: the shortest and the longest.
    Run(Charset, usize, usize, Proof),
    /// The rest of a private key in PEM.
    Pem,
    /// `user:password@` in a URL; only the password is a secret.
    Url,
    /// Nothing: the prefix is the secret.
    Nothing,
}

/// Which bytes a run consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    Hex,
    Upper,
    Alnum,
    /// Letters, digits, `_` and `-`.
    Url,
    /// The above, `.` and `=`.
    Dotted,
    /// What a token in an HTTP header may have: also `+`, `/` and `~`.
    Token,
}

/// What else a run must show, so that a word of a text is not taken for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    None,
    /// A digit, an equals sign, or a capital letter behind the first character and a small one.
    Mixed,
    /// Two dots: three parts.
    Dots,
}

/// Longest private key in PEM that is found, in bytes.
pub(super) const PEM_BYTES_MAX: usize = 16 * 1024;

/// Longest user and password in a URL, in bytes.
pub(super) const URL_PART_BYTES_MAX: usize = 256;

/// Longest run of most formats.
const LONG: usize = 512;

/// Longest JSON Web Token, header value and the like that is found, in bytes.
const VERY_LONG: usize = 8 * 1024;

const fn run(
    name: &'static str,
    prefixes: &'static [&'static str],
    charset: Charset,
    least: usize,
) -> SecretFormat {
    let body = Body::Run(charset, least, LONG, Proof::None);
    SecretFormat { name, prefixes, keeps_prefix: false, body }
}

const fn mixed(
    name: &'static str,
    prefixes: &'static [&'static str],
    charset: Charset,
    least: usize,
) -> SecretFormat {
    let body = Body::Run(charset, least, LONG, Proof::Mixed);
    SecretFormat { name, prefixes, keeps_prefix: false, body }
}

const fn header(
    name: &'static str,
    prefixes: &'static [&'static str],
    least: usize,
) -> SecretFormat {
    let body = Body::Run(Charset::Token, least, VERY_LONG, Proof::Mixed);
    SecretFormat { name, prefixes, keeps_prefix: true, body }
}

const AWS: &[&str] = &["AKIA", "ASIA", "ABIA", "ACCA"];
const GITHUB: &[&str] = &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"];
const GITLAB: &[&str] =
    &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glagent-", "glsoat-", "gloas-"];
const SLACK: &[&str] = &["xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxr-", "xoxs-", "xoxe-", "xapp-"];
const STRIPE: &[&str] =
    &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_"];
const SHOPIFY: &[&str] = &["shpat_", "shpca_", "shppa_", "shpss_"];
const SENTRY: &[&str] = &["sntrys_", "sntryu_"];
const PLANETSCALE: &[&str] = &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"];

/// The table. Where two formats begin alike, the longer prefix decides.
pub(super) const FORMATS: &[SecretFormat] = &[
    run("age-key", &["AGE-SECRET-KEY-1"], Charset::Upper, 58),
    run("anthropic-key", &["sk-ant-"], Charset::Url, 16),
    run("atlassian-token", &["ATATT3", "ATCTT3"], Charset::Dotted, 40),
    run("aws-access-key-id", AWS, Charset::Upper, 16),
    run("cursor-key", &["crsr_"], Charset::Url, 32),
    run("cursor-key", &["key_"], Charset::Hex, 64),
    run("databricks-token", &["dapi"], Charset::Hex, 32),
    run("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Charset::Hex, 64),
    run("docker-token", &["dckr_pat_", "dckr_oat_"], Charset::Url, 20),
    run("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."], Charset::Dotted, 40),
    run("figma-token", &["figd_", "figo_"], Charset::Url, 40),
    run("fly-token", &["fo1_", "fm1a_", "fm1r_", "fm2_"], Charset::Token, 40),
    run("github-token", GITHUB, Charset::Alnum, 36),
    run("github-token", &["github_pat_"], Charset::Url, 22),
    run("gitlab-token", GITLAB, Charset::Dotted, 20),
    run("google-api-key", &["AIza"], Charset::Url, 35),
    run("google-oauth-token", &["ya29."], Charset::Dotted, 20),
    run("google-client-secret", &["GOCSPX-"], Charset::Url, 28),
    run("grafana-token", &["glsa_", "glc_"], Charset::Dotted, 32),
    run("groq-key", &["gsk_"], Charset::Alnum, 40),
    run("huggingface-token", &["hf_", "api_org_"], Charset::Alnum, 34),
    run("linear-key", &["lin_api_", "lin_oauth_"], Charset::Alnum, 40),
    run("newrelic-key", &["NRAK-"], Charset::Alnum, 27),
    run("notion-token", &["ntn_", "secret_"], Charset::Alnum, 43),
    run("npm-token", &["npm_"], Charset::Alnum, 36),
    run("nvidia-key", &["nvapi-"], Charset::Url, 60),
    mixed("openai-key", &["sk-"], Charset::Url, 20),
    run("perplexity-key", &["pplx-"], Charset::Alnum, 40),
    run("planetscale-token", PLANETSCALE, Charset::Dotted, 32),
    run("postman-key", &["PMAK-"], Charset::Url, 59),
    run("pulumi-token", &["pul-"], Charset::Hex, 40),
    run("pypi-token", &["pypi-AgE"], Charset::Url, 50),
    run("replicate-token", &["r8_"], Charset::Alnum, 37),
    run("rubygems-key", &["rubygems_"], Charset::Hex, 48),
    run("sendgrid-key", &["SG."], Charset::Dotted, 66),
    run("sentry-token", SENTRY, Charset::Token, 40),
    run("shopify-token", SHOPIFY, Charset::Hex, 32),
    run("slack-token", SLACK, Charset::Url, 24),
    run("square-token", &["sq0atp-", "sq0csp-"], Charset::Url, 22),
    run("stripe-key", STRIPE, Charset::Alnum, 10),
    run("supabase-token", &["sbp_"], Charset::Hex, 40),
    run("twilio-key", &["SK"], Charset::Hex, 32),
    run("vault-token", &["hvs.", "hvb.", "hvr."], Charset::Url, 24),
    run("xai-key", &["xai-"], Charset::Alnum, 60),
    SecretFormat {
        name: "json-web-token",
        prefixes: &["eyJ"],
        keeps_prefix: false,
        body: Body::Run(Charset::Dotted, 30, VERY_LONG, Proof::Dots),
    },
    SecretFormat {
        name: "private-key",
        prefixes: &["-----BEGIN "],
        keeps_prefix: false,
        body: Body::Pem,
    },
    header("basic-credentials", &["Basic ", "basic "], 12),
    header("bearer-token", &["Bearer ", "bearer "], 16),
    SecretFormat { name: "url-password", prefixes: &["://"], keeps_prefix: true, body: Body::Url },
];

impl Charset {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => Self::Url.has(byte) || matches!(byte, b'.' | b'='),
            Self::Token => Self::Dotted.has(byte) || matches!(byte, b'+' | b'/' | b'~'),
        }
    }
}

impl Proof {
    pub(super) fn holds(self, run: &[u8]) -> bool {
        let behind = run.get(1..).unwrap_or_default();
        match self {
            Self::None => true,
            Self::Mixed => {
                run.iter().any(|it| it.is_ascii_digit() || *it == b'=')
                    || (run.iter().any(u8::is_ascii_lowercase)
                        && behind.iter().any(u8::is_ascii_uppercase))
            }
            Self::Dots => memchr::memchr_iter(b'.', run).count() >= 2,
        }
    }
}
