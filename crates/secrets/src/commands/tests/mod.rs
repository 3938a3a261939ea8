//! What the arguments of commands show.

use crate::finder::SecretFinder;

/// Made at run time, so that this file contains no secret.
const VALUE: &str = concat!("RoACM4wvF9ABq7Lm", "Z2xTgUe3sWcY5pKd");
const PASSWORD: &str = "Tr0ub4dor&3";

/// `<V>` and `<P>` stand for secrets.
const SHOWS_SECRETS: &[&str] = &[
    "FROM node\nENV API_TOKEN <V>\nRUN x",
    r"FROM node\nENV API_TOKEN <V>\nRUN x",
    "    12\u{2192}ENV DB_PASSWORD <P>",
    "setenv API_TOKEN <V>; make",
    "set -gx API_TOKEN <V>",
    "set -x API_TOKEN '<V>'",
    "set -Ux DB_PASSWORD <P>",
    "set -x -g API_TOKEN <V>",
    "setx API_TOKEN <V> /M",
    r#"{\"command\":\"setx API_TOKEN \\\"<V>\\\"\"}"#,
    "vercel env add API_TOKEN <V> production",
    "netlify env:set API_TOKEN <V> --context production",
    "aws configure set aws_secret_access_key <V> --profile x",
    "aws configure set --profile x aws_secret_access_key <V>",
    "npm config set //r.example.com/:_authToken <V>",
    "npm config set --location=project //r.example.com/:_authToken <V>",
    "tool config set api.token \"<V>\"",
    "dotnet user-secrets set \"Db:Password\" \"<P>\" --project x",
    "wrangler secret put API_TOKEN <<< \"<V>\"",
    "gh secret set API_TOKEN <<<<V>",
    "gh secret set DEPLOY --body <V>",
    "gh secret set DEPLOY --body=\"<V>\" --repo a/b",
    "gh secret set DEPLOY -b \"<V>\"",
    "helm registry login -u a -p <P> r.example.com",
    "podman login -u a -p <P>",
    "skopeo login -u a -p <P>",
    "oras login -u a -p <P>",
    "crane auth login r -u a -p <P>",
    "buildah login -u a -p <P>",
    "nerdctl login -u a \\\n  -p <P> r",
    "twine upload -u a -p <P> dist/*",
    "az login --service-principal -u a -p <P> --tenant t",
    "az acr login -n r -u a -p '<P>'",
    "oc login -u a -p <P>",
    "security unlock-keychain -p <P> login.keychain",
    "http -a bob:<P> example.com",
    "https GET example.com -a bob:<P>",
    "sqlcmd -S db -U sa -P <P> -Q 'select 1'",
    "unzip -P <P> a.zip",
    "keytool -genkey -storepass <P> -keypass <P> -alias a",
    "keytool -importkeystore -srcstorepass <P> -deststorepass <P>",
    "ConvertTo-SecureString \"<P>\" -AsPlainText -Force",
    "ConvertTo-SecureString -String '<P>' -AsPlainText -Force",
    "ConvertTo-SecureString -AsPlainText -Force '<P>'",
    "ConvertTo-SecureString <P> -AsPlainText",
    "curl -b sid=<V> https://example.com",
    "curl -s --cookie \"a=b; sid=<V>\" https://example.com",
    "curl --cookie='sid=<V>' https://example.com",
];

const SHOWS_NONE: &[&str] = &[
    "set -x",
    "set -x\nnpm test",
    "set -eux -o pipefail",
    "set -gx GOPATH /home/a/go1x2y3z",
    "set -x API_TOKEN $OTHER",
    "set -gx API_TOKEN (op read op://x/y1/z2)",
    "set -e TOKEN\n  RoACM4wvF9ABq7Lm",
    "reset -x API_TOKEN RoACM4wvF9ABq7Lm",
    "ENV NODE_ENV production",
    "ENV API_TOKEN changeme",
    "ENV API_TOKEN ${API_TOKEN}",
    "ENV COMMIT 72c2d9dd9002545972c2d9dd9002545972c2d9dd",
    "The ENV API_TOKEN, RoACM4wvF9ABq7Lm and more",
    "the ENV API_TOKEN variable must be there",
    "MY_ENV TOKEN RoACM4wvF9ABq7Lm",
    "setx PATH \"%PATH%;C:\\tools\"",
    "setx API_TOKEN %OTHER%",
    "git config set user.name x",
    "git config set commit.id 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
    "npm config set auth-type legacy",
    "npm config set //r/:_authToken ${NPM_TOKEN}",
    "vercel env add API_TOKEN production",
    "gh secret set API_TOKEN < token.txt",
    "gh secret set API_TOKEN --body \"$TOKEN\"",
    "gh pr create --body RoACM4wvF9ABq7Lm",
    "gh secret set X --env prod && git checkout -b fix-2",
    "gh auth login -p https",
    "az login -u <app-id> -p <password>",
    "az login -u <app id> -p <the password>",
    "az login -u $APP -p $PASSWORD",
    "az login -u $env:APP -p $env:PASSWORD",
    "az login\nmkdir -p build/2x",
    "docker login && mkdir -p build/2x",
    "docker login; mkdir -p build/2x",
    "twine upload dist/* | tee -p out2",
    "twine upload -p -u a",
    "ssh -P 2222 a",
    "unzip a.zip && scp -P 2222 a b:",
    "http -a bob example.com",
    "git commit -a -m 'http: x'",
    "ConvertTo-SecureString cmdlet converts",
    "ConvertTo-SecureString $pw -AsPlainText -Force",
    "ConvertTo-SecureString \"$env:PW\" -AsPlainText -Force",
    "ConvertTo-SecureString (Get-Content a1.txt) -Force",
    "curl -b cookies.txt https://example.com/?sha=RoACM4wvF9ABq7Lm",
    "curl -b a=b https://example.com/?sha=RoACM4wvF9ABq7Lm",
];

fn redacted(finder: &SecretFinder, text: &str) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for found in finder.search(text.as_bytes(), 0).found {
        out.push_str(&text[from..found.range.start]);
        out.push_str("[REDACTED]");
        from = found.range.end;
    }
    out + &text[from..]
}

#[test]
fn commands_show_secrets() {
    let finder = SecretFinder::new(&[]);
    for shape in SHOWS_SECRETS {
        let text = shape.replace("<V>", VALUE).replace("<P>", PASSWORD);
        let expected = shape.replace("<V>", "[REDACTED]").replace("<P>", "[REDACTED]");
        assert_eq!(redacted(&finder, &text), expected, "{shape}");
    }
}

#[test]
fn commands_without_secrets_stay() {
    let finder = SecretFinder::new(&[]);
    for text in SHOWS_NONE {
        assert_eq!(redacted(&finder, text), **text);
    }
}

/// Goal: wherever a text is cut inside a secret, the next one shows its start.
#[test]
fn a_cut_command_may_go_on() {
    let finder = SecretFinder::new(&[]);
    for shape in SHOWS_SECRETS.iter().filter(|it| it.contains("<V>") && !it.contains("sid=")) {
        let text = shape.replace("<V>", VALUE);
        let text = text.as_bytes();
        let start = shape.find("<V>").expect("it has one");
        for at in start + 2..start + VALUE.len() {
            let search = finder.search(&text[..at], 0);
            let tail = search.tail.map(|it| it.start);
            let found = search.found.last().filter(|it| it.may_go_on);
            let from = tail.or(found.map(|it| it.range.start));
            let from = from.unwrap_or_else(|| panic!("{shape} at {at}"));
            assert!(from <= start, "{shape} at {at}: {from}");
            let again = finder.search(text, from).found;
            assert_eq!(again[0].range, start..start + VALUE.len(), "{shape} at {at}");
        }
    }
}
