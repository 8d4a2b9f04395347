/* The patterns of the built-in static analysis. */
import type { DescribedRule } from '../../core/interfaces/rule.ts';

/** A pattern of static analysis: `error` if the form alone proves the fault, else `warning`. */
interface SastRow {
  /** Number in the Common Weakness Enumeration. */
  readonly cwe: number;
  readonly severity: 'error' | 'warning';
  /** What it does, as the rest of a sentence that starts with the call. */
  readonly why: string;
  readonly instead: string;
  /** Every file or change that this row hits has one of these texts. */
  readonly words: readonly string[];
}

/** Reads a row: number and severity, what the call does, what to use instead, and words apart by commas. */
function row(text: string): SastRow {
  const [head = '', why = '', instead = '', words = ''] = text.split(/\n +/);
  const [cwe, severity] = head.split(' ');
  return {
    cwe: Number(cwe),
    severity: severity as SastRow['severity'],
    why,
    instead,
    words: words.split(', '),
  };
}

const unverified = '295 error\n    does not verify who is at the other end of the connection';

/** Rows by id, `sast/<language>-<fault>`. */
const rows = {
  'sast/python-unsafe-deserialization': row(`502 error
    runs whatever code its input names
    read JSON or another format of plain data, or check a signature before
    pickle, Pickle, marshal, dill, joblib`),
  'sast/python-shelve': row(`502 warning
    unpickles what the file holds: anyone who can write the file runs code here
    keep data in SQLite or JSON, or in a directory that no other user can write
    shelve`),
  'sast/python-yaml-load': row(`502 error
    builds any Python object that the document asks for
    call \`yaml.safe_load\`, or give \`Loader=yaml.SafeLoader\`
    yaml`),
  'sast/python-mktemp': row(`377 error
    gives the name of a file that somebody else can make before
    use \`tempfile.mkstemp\`, \`NamedTemporaryFile\` or \`TemporaryDirectory\`
    mktemp, tempnam, tmpnam`),
  'sast/python-tls-unverified': row(`${unverified}
    keep verification on, and add the authority that signed the certificate to the trusted ones
    verify, CERT_NONE, _create_unverified_context, ssl=, ssl =, unverified`),
  'sast/python-flask-debug': row(`489 error
    lets every visitor who causes an error run code in the debugger
    leave \`debug\` out, and run \`flask --debug\` while developing
    debug, DEBUG`),
  'sast/javascript-tls-unverified': row(`${unverified}
    keep verification on, and give the authority that signed the certificate as \`ca\`
    rejectUnauthorized, NODE_TLS_REJECT, \\u00, \\u{`),
  'sast/javascript-cipher-without-iv': row(`329 error
    derives key and initialisation vector from the password alone, the same ones every time
    use \`createCipheriv\` with a key from \`scrypt\` and a random initialisation vector
    createCipher, createDecipher`),
  'sast/javascript-jwt-none': row(`347 error
    accepts unsigned tokens
    name the algorithms that you sign with, and no others
    algorithm, 'none', "none", 'NONE', "NONE", 'None', "None"`),
  'sast/java-unsafe-deserialization': row(`502 error
    builds whatever objects its input names, and runs their code
    read JSON or another format of plain data, or set an \`ObjectInputFilter\` of allowed classes
    readObject, readUnshared`),
  'sast/java-tls-unverified': row(`${unverified}
    leave the default trust manager and host name verifier, and add the authority to a trust store
    checkServerTrusted, ostnameVerifier, ALLOW_ALL, TrustAll, SSLSession, AllowAll`),
  'sast/java-xml-external-entities': row(`611 error
    reads documents that may name files and addresses for the parser to fetch
    set \`XMLInputFactory.SUPPORT_DTD\` to false on the factory first
    XMLInputFactory`),
  'sast/go-tls-unverified': row(`${unverified}
    leave it out, and give the authority that signed the certificate as \`RootCAs\`
    InsecureSkipVerify`),
  'sast/go-ssh-host-key': row(`322 error
    accepts any host key, so that anyone can impersonate the host
    use \`knownhosts.New\` or \`ssh.FixedHostKey\`
    InsecureIgnoreHostKey`),
  'sast/ruby-unsafe-deserialization': row(`502 error
    builds whatever objects its input names
    read JSON or another format of plain data
    Marshal`),
  'sast/ruby-yaml-load': row(`502 error
    builds any Ruby object that the document asks for
    call \`YAML.safe_load\` with the classes that you expect
    unsafe_load`),
  'sast/php-unserialize': row(`502 error
    builds whatever objects its input names, and runs their code
    use \`json_decode\`, or give \`['allowed_classes' => false]\`
    unserialize`),
  'sast/php-tls-unverified': row(`${unverified}
    keep verification on, and give the authority that signed the certificate as \`CURLOPT_CAINFO\`
    CURLOPT_SSL_VERIFY, verify_peer`),
  'sast/csharp-unsafe-deserialization': row(`502 error
    builds whatever objects its input names, and runs their code
    use \`System.Text.Json\` or \`DataContractSerializer\` with known types
    Deserialize`),
  'sast/csharp-tls-unverified': row(`${unverified}
    leave the callback out, and add the authority that signed the certificate to the trusted ones
    ValidationCallback, DangerousAcceptAny, SslStream`),
  'sast/shell-download-executed': row(`494 error
    runs what is downloaded, whatever that is by then
    download to a file, compare its digest with a pinned one, then run it
    curl, wget, fetch`),
  'sast/shell-world-writable': row(`732 error
    lets every user of the machine write there
    give the permission to one user or group (\`750\`, \`g+w\`)
    chmod`),
  'sast/shell-tls-unverified': row(`${unverified}
    keep verification on, and add the authority that signed the certificate to the trusted ones
    curl, --no-check-certificate, ssl, SSL, TLS, HTTPSVERIFY`),
} satisfies Readonly<Record<string, SastRow>>;

/** Ids of our rows. */
export type SastRowId = keyof typeof rows;

/** Everything that our own static analysis looks for, by language. */
export const sastRows = Object.entries(rows).map(([id, one]) => ({ id, ...one }));

/** A row by its id. */
export function sastRow(id: string): SastRow | undefined {
  return Object.hasOwn(rows, id) ? rows[id as SastRowId] : undefined;
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
