/**
 * Words that say: put your own here, or this is none. `example` covers the keys of vendors' documentation
 * (`AKIAIOSFODNN7EXAMPLE`).
 */
const tellingWords =
  /example|sample|placeholder|change[-_]?(?:me|this|it)|replace[-_]?(?:me|this|with)|(?:^|[^a-z])(?:your|my|some|the|insert|enter|put)[-_ .]?(?:[a-z]{1,12}[-_ .]){0,3}(?:key|token|secret|password|passw?d|here|value|credential)|to-?do[-_:]|fixme|dummy|redacted|censored|masked|not[-_ ]?(?:(?:a|my)[-_ ]?)?(?:real|secret|valid)|(?:^|[-_.])(?:fake|mock|stub|invalid|test(?:ing)?)(?:[-_.]|$)|^(?:test|pass(?:word|wd)?|admin|user|demo|secret|welcome|qwerty)[\d!@#$.]{0,6}$|x{5,}|\*{3,}|\.{3,}|_{5,}/i;
/** What stands for a value that is filled in later: `${…}`, `{{…}}`, `<…>`, `%(…)s`, `$NAME`, `process.env.…`. */
const templates =
  /\$\{|\$\(|\{\{|#\{|<%|%[({sd]|^<.*>$|^\[.*\]$|^\{.*\}$|^%[A-Za-z_]+%$|^\$[A-Za-z_]|^@[A-Za-z]|process\.env|getenv|environ|secretKeyRef|^vault:|^arn:|^secret\/|^env[:.(]|^ref[:+]/i;
const runs = [
  '0123456789',
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  '0123456789abcdef',
  'deadbeef',
];

/** Of RFC 6749, 6750 and 5849: they stand in the tests and documents of every library for OAuth. */
const standards = new Set(
  '2YotnFZFEjr1zCsicMWpAA tGzv3JOkF0XG5Qx2TlKWIA SplxlOBeZQQYbYS6WxSbIA gX1fBat3bV 7Fjfp0ZBr1KtDRbnfVdmIw czZCaGRSa3F0MzpnWDFmQmF0M2JW czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3 mF_9.B5f-4.1JqM mF_9.B5f-4.1JqMmF_9.B5f-4.1JqM ad180jjd733klru7 nnch734d00sl2jdk pfkkdhi9sl3r4s00 kd94hf93k423kf44 hh5s93j4hdidpola hdhd0244k9j7ao03'.split(
    ' ',
  ),
);

/**
 * Whether a value is no secret but stands in for one: it says so, is a template, repeats a few characters, or counts
 * through the alphabet. For values of a known format, where chance makes none of these.
 */
export function isPlaceholder(value: string): boolean {
  if (tellingWords.test(value) || templates.test(value) || standards.has(value)) return true;
  if (saysSoEncoded(value)) return true;
  const body = value.replace(/^[A-Za-z]{2,8}[-_.]/, '').toLowerCase();
  const chars = body.replace(/[^a-z0-9]/g, '');
  if (new Set(chars).size < 5) return true;
  return isCounting(chars);
}

/** Base64 of words that say so. */
function saysSoEncoded(value: string): boolean {
  if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]{12,200}={0,2}$/.test(value)) return false;
  const text = Buffer.from(value, 'base64').toString('latin1');
  return /^[\x20-\x7e]+$/.test(text) && (tellingWords.test(text) || templates.test(text));
}

/** Most of the text is pieces of well-known rows: `1234567890abcdef…`. */
function isCounting(chars: string): boolean {
  let covered = 0;
  for (let at = 0; at < chars.length; ) {
    let longest = 0;
    for (const run of runs) {
      const from = run.indexOf(chars.charAt(at));
      if (from < 0) continue;
      let length = 0;
      while (length < run.length - from && chars.charAt(at + length) === run.charAt(from + length))
        length += 1;
      longest = Math.max(longest, length);
    }
    if (longest >= 4) covered += longest;
    at += Math.max(1, longest);
  }
  return covered >= chars.length * 0.7;
}
