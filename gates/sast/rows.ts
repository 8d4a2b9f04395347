/* The patterns of the built-in static analysis. */
import type { DescribedRule } from '../../core/interfaces/rule.ts';

/**
 * One pattern of the built-in static analysis. `error` if the form alone proves the fault; `warning` if it depends on
 * the value or its use.
 */
interface SastRow {
  /** `sast/<language>-<what>`. */
  readonly id: string;
  /** Number in the Common Weakness Enumeration. */
  readonly cwe: number;
  readonly severity: 'error' | 'warning';
  /** What it does, as the rest of a sentence that starts with the call. */
  readonly why: string;
  readonly instead: string;
  /** Every file or change that this row hits has one of these texts. */
  readonly words: readonly string[];
}

const unverified = {
  cwe: 295,
  severity: 'error',
  why: 'does not verify who is at the other end of the connection',
  instead: 'keep verification on, and add the authority that signed the certificate to the trusted ones',
} as const;
const deserialization = {
  cwe: 502,
  severity: 'error',
  why: 'builds whatever objects its input names, and runs their code',
} as const;

/** Everything that our own static analysis looks for, by language. */
export const sastRows = [
  {
    id: 'sast/python-unsafe-deserialization',
    ...deserialization,
    why: 'runs whatever code its input names',
    instead: 'read JSON or another format of plain data, or check a signature before',
    words: ['pickle', 'Pickle', 'marshal', 'dill', 'joblib'],
  },
  {
    id: 'sast/python-shelve',
    cwe: 502,
    severity: 'warning',
    why: 'unpickles what the file holds: anyone who can write the file runs code here',
    instead: 'keep data in SQLite or JSON, or in a directory that no other user can write',
    words: ['shelve'],
  },
  {
    id: 'sast/python-yaml-load',
    ...deserialization,
    why: 'builds any Python object that the document asks for',
    instead: 'call `yaml.safe_load`, or give `Loader=yaml.SafeLoader`',
    words: ['yaml'],
  },
  {
    id: 'sast/python-mktemp',
    cwe: 377,
    severity: 'error',
    why: 'gives the name of a file that somebody else can make before',
    instead: 'use `tempfile.mkstemp`, `NamedTemporaryFile` or `TemporaryDirectory`',
    words: ['mktemp', 'tempnam', 'tmpnam'],
  },
  {
    id: 'sast/python-tls-unverified',
    ...unverified,
    words: ['verify', 'CERT_NONE', '_create_unverified_context', 'ssl=', 'ssl =', 'unverified'],
  },
  {
    id: 'sast/python-flask-debug',
    cwe: 489,
    severity: 'error',
    why: 'lets every visitor who causes an error run code in the debugger',
    instead: 'leave `debug` out, and run `flask --debug` while developing',
    words: ['debug', 'DEBUG'],
  },
  {
    id: 'sast/javascript-tls-unverified',
    ...unverified,
    instead: 'keep verification on, and give the authority that signed the certificate as `ca`',
    words: ['rejectUnauthorized', 'NODE_TLS_REJECT', '\\u00', '\\u{'],
  },
  {
    id: 'sast/javascript-cipher-without-iv',
    cwe: 329,
    severity: 'error',
    why: 'derives key and initialisation vector from the password alone, the same ones every time',
    instead: 'use `createCipheriv` with a key from `scrypt` and a random initialisation vector',
    words: ['createCipher', 'createDecipher'],
  },
  {
    id: 'sast/javascript-jwt-none',
    cwe: 347,
    severity: 'error',
    why: 'accepts unsigned tokens',
    instead: 'name the algorithms that you sign with, and no others',
    words: ['algorithm', "'none'", '"none"', "'NONE'", '"NONE"', "'None'", '"None"'],
  },
  {
    id: 'sast/java-unsafe-deserialization',
    ...deserialization,
    instead: 'read JSON or another format of plain data, or set an `ObjectInputFilter` of allowed classes',
    words: ['readObject', 'readUnshared'],
  },
  {
    id: 'sast/java-tls-unverified',
    ...unverified,
    instead: 'leave the default trust manager and host name verifier, and add the authority to a trust store',
    words: ['checkServerTrusted', 'ostnameVerifier', 'ALLOW_ALL', 'TrustAll', 'SSLSession', 'AllowAll'],
  },
  {
    id: 'sast/java-xml-external-entities',
    cwe: 611,
    severity: 'error',
    why: 'reads documents that may name files and addresses for the parser to fetch',
    instead: 'set `XMLInputFactory.SUPPORT_DTD` to false on the factory first',
    words: ['XMLInputFactory'],
  },
  {
    id: 'sast/go-tls-unverified',
    ...unverified,
    instead: 'leave it out, and give the authority that signed the certificate as `RootCAs`',
    words: ['InsecureSkipVerify'],
  },
  {
    id: 'sast/go-ssh-host-key',
    cwe: 322,
    severity: 'error',
    why: 'accepts any host key, so that anyone can impersonate the host',
    instead: 'use `knownhosts.New` or `ssh.FixedHostKey`',
    words: ['InsecureIgnoreHostKey'],
  },
  {
    id: 'sast/ruby-unsafe-deserialization',
    ...deserialization,
    why: 'builds whatever objects its input names',
    instead: 'read JSON or another format of plain data',
    words: ['Marshal'],
  },
  {
    id: 'sast/ruby-yaml-load',
    ...deserialization,
    why: 'builds any Ruby object that the document asks for',
    instead: 'call `YAML.safe_load` with the classes that you expect',
    words: ['unsafe_load'],
  },
  {
    id: 'sast/php-unserialize',
    ...deserialization,
    instead: "use `json_decode`, or give `['allowed_classes' => false]`",
    words: ['unserialize'],
  },
  {
    id: 'sast/php-tls-unverified',
    ...unverified,
    instead: 'keep verification on, and give the authority that signed the certificate as `CURLOPT_CAINFO`',
    words: ['CURLOPT_SSL_VERIFY', 'verify_peer'],
  },
  {
    id: 'sast/csharp-unsafe-deserialization',
    ...deserialization,
    instead: 'use `System.Text.Json` or `DataContractSerializer` with known types',
    words: ['Deserialize'],
  },
  {
    id: 'sast/csharp-tls-unverified',
    ...unverified,
    instead: 'leave the callback out, and add the authority that signed the certificate to the trusted ones',
    words: ['ValidationCallback', 'DangerousAcceptAny', 'SslStream'],
  },
  {
    id: 'sast/shell-download-executed',
    cwe: 494,
    severity: 'error',
    why: 'runs what is downloaded, whatever that is by then',
    instead: 'download to a file, compare its digest with a pinned one, then run it',
    words: ['curl', 'wget', 'fetch'],
  },
  {
    id: 'sast/shell-world-writable',
    cwe: 732,
    severity: 'error',
    why: 'lets every user of the machine write there',
    instead: 'give the permission to one user or group (`750`, `g+w`)',
    words: ['chmod'],
  },
  {
    id: 'sast/shell-tls-unverified',
    ...unverified,
    words: ['curl', '--no-check-certificate', 'ssl', 'SSL', 'TLS', 'HTTPSVERIFY'],
  },
] as const satisfies readonly SastRow[];

/** Ids of our rows. */
export type SastRowId = (typeof sastRows)[number]['id'];

const byId = new Map<string, SastRow>(sastRows.map((row) => [row.id, row]));

/** A row by its id. */
export function sastRow(id: string): SastRow | undefined {
  return byId.get(id);
}

/**
 * Rows of earlier versions, which `[rules.sast] allow` may still name. In ordinary code less than 98 % of their
 * findings were faults: they guessed from the name of a variable, or could not see that a text was escaped before.
 */
export const retiredRows: readonly string[] = [
  'sast/javascript-dangerous-html',
  'sast/javascript-html-sink',
  'sast/php-password-hash',
  'sast/python-password-hash',
  'sast/ruby-html-safe',
];

/** Our rows as rules of a SARIF report. */
export const describedRows: readonly DescribedRule[] = sastRows.map(
  ({ id, cwe, severity, why, instead }) => ({
    id,
    about: `It ${why}.`,
    help: `${instead.charAt(0).toUpperCase()}${instead.slice(1)}.`,
    level: severity,
    securitySeverity: severity === 'error' ? '8.0' : '5.0',
    tags: ['security', `external/cwe/cwe-${cwe}`],
  }),
);
