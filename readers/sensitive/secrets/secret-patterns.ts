/** One occurrence; offsets are bytes. */
export interface SecretMatch {
  /** Kebab-case; appears in findings and receipts. */
  readonly rule: string;
  /**
   * `token`: a secret by its shape. `context`: by the text around it. `assigned`: by the name that it is assigned to.
   */
  readonly kind: 'token' | 'context' | 'assigned';
  readonly start: number;
  readonly end: number;
  /** An assigned value without quotes, which in program text is an expression. */
  readonly bare?: boolean;
  /** The decoded or joined value, if the secret is encoded or split over several literals. */
  readonly value?: string;
  readonly wrapped?: 'encoded' | 'cut';
}

/** One known token format. */
export interface SecretPattern {
  /** Kebab-case; appears in findings and receipts. */
  readonly rule: string;
  /**
   * Every try starts at one of these, of three characters or more; three only before a letter, digit, `_` or `-`.
   * Absent: at what the form begins with.
   */
  readonly anchors?: readonly string[] | AnchorClasses;
  /**
   * Sticky, over latin1, bounded: a try costs at most its longest match. A group `lead` is what the secret has before
   * the anchor; any other first group is the secret, and ends the match.
   */
  readonly form: RegExp;
  /** The secret is the word of a command that follows; a group `quote` is what opened it. */
  readonly isWord?: true;
  /** `token`: a secret by its shape. `context`: by the text before it; certain in output, common in examples. */
  readonly kind: 'token' | 'context';
}

/** Anchors as a character class per place, `[0-9]Q`: every text of it is one. */
export interface AnchorClasses {
  readonly classes: string;
  /** Where the form starts in the anchor. */
  readonly offset?: number;
}

const token = (rule: string, form: RegExp, anchors?: SecretPattern['anchors']): SecretPattern => ({
  rule,
  form,
  kind: 'token',
  ...(anchors ? { anchors } : {}),
});

/** Longest text that one match may span; a stream buffers this much. */
export const maxSecretBytes = 64 * 1024;

/** Known formats, by the issuers' own documentation. Upper bounds are open-handed: a longer token is still a token. */
export const secretPatterns: readonly SecretPattern[] = [
  token('aws-access-key', /(?<!\w)A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])/y),
  token('github-token', /gh[pousr]_[A-Za-z0-9]{36,255}/y),
  token('github-token', /github_pat_[A-Za-z0-9_]{60,255}/y),
  token('gitlab-token', /gl(?:pat|ptt|dt|rt|cbt|imt|oas|ft|agent|soat)-[\w-]{20,300}/y),
  token('slack-token', /x(?:ox[abcdeoprs]|oxe\.xox[bp]|app)-[A-Za-z0-9%/+=-]{20,400}/y),
  token(
    'slack-webhook',
    /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{30,120}/y,
  ),
  token('stripe-key', /[rs]k_(?:live|test)_[A-Za-z0-9]{16,250}/y),
  token('stripe-webhook-secret', /whsec_[A-Za-z0-9+/=]{32,100}/y),
  token('anthropic-key', /sk-ant-[a-z]{2,10}\d\d-[\w-]{60,200}/y),
  token('openai-key', /sk-(?:proj|svcacct|admin|None)-[\w-]{40,250}/y),
  token('provider-key', /sk-or-v1-[0-9a-f]{64}/y),
  token('provider-key', /(?<!\w)sk-[A-Za-z0-9]{32,100}(?![\w-])/y),
  token('google-api-key', /(?<!\w)AIza[\w-]{35}(?![\w-])/y),
  token('google-oauth', /GOCSPX-[\w-]{28}/y),
  token('google-oauth', /(?<!\w)ya29\.[\w-]{30,1000}/y),
  token('npm-token', /npm_[A-Za-z0-9]{36,64}/y),
  token('pypi-token', /pypi-AgE[\w-]{50,1000}/y),
  token('rubygems-token', /rubygems_[a-f0-9]{48}/y),
  token('crates-token', /(?<!\w)cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/y),
  token('docker-token', /dckr_[po]at_[\w-]{27,64}/y),
  token('sendgrid-key', /(?<!\w)SG\.[\w-]{22}\.[\w-]{43}/y),
  token('mailgun-key', /(?<!\w)key-[0-9a-f]{32}(?![0-9A-Za-z])/y),
  token('twilio-key', /(?<!\w)SK[0-9a-f]{32}(?![0-9A-Za-z])/y, { classes: 'SK[0-9a-f]' }),
  token('digitalocean-token', /do[opr]_v1_[a-f0-9]{64}/y),
  token('heroku-key', /HRKU-[\w-]{36,80}/y),
  token('huggingface-token', /(?<!\w)(?:hf|api_org)_[A-Za-z0-9]{34,64}/y),
  token('databricks-token', /(?<!\w)dapi[a-f0-9]{32}(?:-\d)?(?![0-9A-Za-z])/y),
  token('vault-token', /(?<!\w)hv[sbr]\.[\w-]{24,300}/y),
  token('terraform-token', /(?<=(?<lead>[A-Za-z0-9]{14}))\.atlasv1\.[\w-]{60,80}/y),
  token('shopify-token', /shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/y),
  token('square-token', /sq0(?:atp|csp)-[\w-]{22,60}/y),
  token('telegram-token', /(?<=(?<lead>(?<!\d)\d{8,10})):AA[\w-]{33}(?![\w-])/y, {
    classes: '[0-9]:AA',
    offset: 1,
  }),
  token('atlassian-token', /ATATT3[\w=-]{60,300}/y),
  token('postman-key', /PMAK-[a-f0-9]{24}-[a-f0-9]{34}/y),
  token('grafana-token', /(?<!\w)gl(?:sa_[A-Za-z0-9]{32}_[a-f0-9]{8}|c_[A-Za-z0-9+/=]{40,400})/y),
  token('newrelic-key', /NRAK-[A-Z0-9]{27}/y),
  token('sentry-token', /sntry[su]_[A-Za-z0-9+/=_]{60,400}/y),
  token('linear-key', /lin_api_[A-Za-z0-9]{40}/y),
  token('notion-token', /(?<!\w)(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))/y, [
    'ntn_',
    'secret_',
  ]),
  token('netlify-token', /(?<!\w)nfp_[A-Za-z0-9]{36,64}/y),
  token('supabase-token', /(?<!\w)sbp_[a-f0-9]{40}/y),
  token('planetscale-token', /pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}/y),
  token('pulumi-token', /(?<!\w)pul-[a-f0-9]{40}/y),
  token('doppler-token', /(?<!\w)dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,40}\.)?[A-Za-z0-9]{40,44}/y),
  token('figma-token', /(?<!\w)figd_[\w-]{36,64}/y),
  token('groq-key', /(?<!\w)gsk_[A-Za-z0-9]{52}/y),
  token('perplexity-key', /(?<!\w)pplx-[A-Za-z0-9]{40,64}/y),
  token('replicate-token', /(?<!\w)r8_[A-Za-z0-9]{37}/y),
  token('xai-key', /(?<!\w)xai-[A-Za-z0-9]{70,100}/y),
  token('airtable-token', /(?<!\w)pat[A-Za-z0-9]{14}\.[a-f0-9]{64}/y),
  token('azure-storage-key', /AccountKey=([A-Za-z0-9+/]{86}==)/y),
  token(
    'zhipu-key',
    /(?<=(?<lead>(?<![0-9A-Za-z])[0-9a-f]{29}))[0-9a-f]{3}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])/y,
    { classes: '[0-9a-f][0-9a-f][0-9a-f]\\.' },
  ),
  token('discord-webhook', /https:\/\/discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,80}/y),
  token(
    'teams-webhook',
    /\.webhook\.office\.com\/webhookb2\/[\w-]{36}@[\w-]{36}\/IncomingWebhook\/[0-9a-f]{32}\/[\w-]{36}/y,
  ),
  token('mailchimp-key', /(?<=(?<lead>(?<![0-9A-Za-z])[0-9a-f]{32}))-us\d{1,2}(?![0-9A-Za-z])/y, [
    '-us1',
    '-us2',
    '-us3',
    '-us4',
    '-us5',
    '-us6',
    '-us7',
    '-us8',
    '-us9',
  ]),
  token('dropbox-token', /(?<!\w)sl\.(?:u\.)?[\w-]{130,1400}/y, ['sl.B', 'sl.u.']),
  token('alibaba-access-key', /(?<!\w)LTAI[A-Za-z0-9]{17,24}(?![A-Za-z0-9])/y),
  token('facebook-token', /(?<!\w)EAA[BCEGJM][A-Za-z0-9]{100,300}/y),
  token('mapbox-token', /(?<!\w)[st]k\.eyJ[\w-]{20,400}\.[\w-]{20,100}/y),
  token('brevo-key', /xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}/y),
  token('typeform-token', /(?<!\w)tfp_[\w.=-]{40,64}/y),
  token('easypost-key', /(?<!\w)EZ[AT]K[A-Za-z0-9]{54}/y),
  token('flutterwave-key', /FLWSECK(?:_TEST)?-[a-h0-9]{12,40}(?:-X)?/y),
  token('adobe-secret', /(?<!\w)p8e-[A-Za-z0-9_-]{32}/y),
  token('clojars-token', /CLOJARS_[A-Za-z0-9]{60}/y),
  token('fly-token', /(?<!\w)(?:fo1_[\w-]{43}|FlyV1 fm\d[rs]?_[A-Za-z0-9+/=,_-]{80,1000})/y),
  token('cloudflare-origin-key', /(?<!\w)v1\.0-[a-f0-9]{24}-[a-f0-9]{146}/y),
  token('onepassword-token', /(?<!\w)ops_eyJ[A-Za-z0-9+/=]{200,2000}/y),
  token('artifactory-key', /(?<!\w)AKCp[A-Za-z0-9]{69}/y),
  token('nuget-key', /(?<!\w)oy2[a-z0-9]{43}(?![A-Za-z0-9])/y),
  token('sonar-token', /(?<!\w)sq[pua]_[a-f0-9]{40}/y),
  token('buildkite-token', /(?<!\w)bkua_[a-z0-9]{40}/y),
  token('circleci-token', /CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}/y),
  token('infracost-key', /(?<!\w)ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])/y),
  token('prefect-key', /(?<!\w)pnu_[A-Za-z0-9]{36}/y),
  token('readme-key', /(?<!\w)rdme_[a-z0-9]{70}/y),
  token('shippo-token', /(?<!\w)shippo_(?:live|test)_[a-fA-F0-9]{40}/y),
  token('duffel-token', /(?<!\w)duffel_(?:live|test)_[\w-]{43}/y),
  token('frameio-token', /(?<!\w)fio-u-[\w=-]{64}/y),
  token('langsmith-key', /(?<!\w)lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}/y),
  token('posthog-key', /(?<!\w)phx_[A-Za-z0-9]{43,48}/y),
  token('tavily-key', /(?<!\w)tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}/y),
  token('deno-token', /(?<!\w)dd[op]_[A-Za-z0-9]{36}/y),
  token('dynatrace-token', /(?<!\w)dt0c01\.[A-Z2-7]{24}\.[A-Z2-7]{64}/y),
  token('bitbucket-token', /(?<!\w)ATBB[A-Za-z0-9]{32}(?:[A-F0-9]{8})?/y),
  token(
    'azure-devops-token',
    /(?<=(?<lead>(?<![A-Za-z0-9])[A-Za-z0-9]{76}))AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/y,
    ['AZDO'],
  ),
  token('azure-shared-key', /Shared(?:Access|Secret)Key=([A-Za-z0-9+/]{40,90}={0,2})/y),
  token('azure-sas', /(?:sig|SIG)=([A-Za-z0-9%+/]{40,80}(?:%3[dD]|=))/y),
  token('azure-client-secret', /(?<=(?<lead>[\w.~-]{3}))\dQ~[\w.~-]{31,34}/y, {
    classes: '[0-9]Q~[A-Za-z0-9_.~-]',
  }),
  token('digitalocean-spaces-key', /(?<!\w)DO00[A-Z0-9]{16}(?![A-Za-z0-9])/y),
  token('aiven-token', /(?<!\w)AVNS_[\w-]{19}(?![\w-])/y),
  token('yandex-key', /(?<!\w)(?:AQVN[\w-]{35,38}|t1\.9[\w-]{40,400}\.[\w-]{86})/y),
  token('stripe-key', /(?<!\w)sk_org_(?:live|test)_[A-Za-z0-9]{16,250}/y),
  token('age-key', /AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/y),
  {
    rule: 'aws-secret-key',
    form: /(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|[Ss]ecretAccessKey)(?:\\?["']){0,2}[ \t]{0,8}(?:=>|:=|[=:])?[ \t]{0,8}\\?["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/y,
    kind: 'token',
  },
  {
    rule: 'json-web-token',
    form: /(?<!\w)eyJ[\w-]{10,1000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1400}/y,
    kind: 'context',
  },
  {
    rule: 'authorization-header',
    form: /(?:[Aa]uthorization|AUTHORIZATION)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?(?:[Bb]earer|[Bb]asic|[Tt]oken)[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,4000})/y,
    kind: 'context',
  },
  {
    rule: 'url-password',
    anchors: { classes: '[A-Za-z0-9+.-]://', offset: 1 },
    // As clients read it: the last `@` before the path ends the log-in. A host that is put in later is one, too.
    form: /:\/\/[^\s:@/"'<>`]{0,128}:([^\s@/"'<>`]{1,256}(?:@[^\s@/"'<>`,;:()]{1,128}){0,3})(?=@[\w[${<%"'`])/y,
    kind: 'context',
  },
  {
    rule: 'url-password',
    form: /:\\\/\\\/[^\s:@/"'<>`\\]{0,128}:([^\s@/"'<>`\\]{1,256})(?=@[\w[])/y,
    kind: 'context',
  },
  {
    rule: 'url-token',
    anchors: { classes: '[A-Za-z0-9+.-]://', offset: 1 },
    form: /:\/\/([A-Za-z0-9_-]{20,255})(?=@(?:[\w.-]{1,100}\.)?(?:github|gitlab|bitbucket|gitea|codeberg|azure|visualstudio)\.|@[^\s"'<>`]{1,200}\.git(?![\w.]))/y,
    kind: 'context',
  },
  {
    rule: 'registry-auth',
    anchors: ['"auth"', "'auth'", '_auth=', '_auth ='],
    form: /(?:\\{0,2}["']auth\\{0,2}["'][ \t]{0,4}:\s{0,8}\\{0,2}["']|_auth ?= ?"?)([A-Za-z0-9+/]{12,2000}={0,2})(?![\w=])/y,
    kind: 'context',
  },
  {
    rule: 'netrc-password',
    // Values in another order are matched only in a file named `.netrc`: in prose these are ordinary words.
    form: /machine(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})[^\s]{1,255}(?:(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})account(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})[^\s]{1,255})?(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})login(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})[^\s]{1,255}(?:(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})account(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})[^\s]{1,255})?(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})password(?:[ \t]{1,40}|[ \t]{0,40}\r?\n\+?[ \t]{0,40})"?([^\s"'`]{1,256})/y,
    kind: 'context',
  },
  {
    rule: 'command-password',
    anchors: [' -u ', ' -U ', ' --user ', ' --user=', ' --proxy-user '],
    form: /(?<=(?:curl|wget|xh|https?)(?= )(?:[^\n]|\\\r?\n\+?){0,400})(?: -[uU]| --(?:proxy-)?user)[ =]{1,2}(?<quote>\\?["'])?[^\s:"'`$<>{}\\]{1,128}:(?![$<{])/y,
    isWord: true,
    kind: 'context',
  },
  {
    rule: 'command-password',
    form: /(?:mysql|mariadb)(?:-?dump|-?admin|import|sh)?(?= )[^\n|;]{0,300}? -p(?<quote>\\?["'])?(?![\s"'$<{=-])/y,
    isWord: true,
    kind: 'context',
  },
  {
    rule: 'command-password',
    anchors: ['sshpass ', 'redis-cli ', 'ldapsearch ', 'ldapmodify ', 'ldapadd '],
    form: /(?:sshpass +-p|redis-cli (?:[^\n|;]{0,200}? )?-a|ldap[a-z]{3,6} (?:[^\n|;]{0,200}? )?-w)[ \t]{0,4}(?<quote>\\?["'])?(?![\s"'$<{=-])/y,
    isWord: true,
    kind: 'context',
  },
];
