import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The reason to skip what needs the real `openssl`; `false` where it is there. */
export const withoutOpenssl: string | false =
  spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed';

export interface Holder {
  readonly der: Buffer;
  readonly privateKey: KeyObject;
}

/** Arguments of `openssl req` for a new key. */
export const newKeys = {
  'P-256': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  'P-384': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  'P-521': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521'],
  RSA: ['-newkey', 'rsa:2048'],
  Ed25519: ['-newkey', 'ed25519'],
} as const;

/** A certificate authority, and a time-stamp authority under it, of OpenSSL. */
export interface Authority {
  readonly root: Buffer;
  /** A certificate with these extensions, as lines of an OpenSSL configuration. */
  issue(extensions: readonly string[], key?: keyof typeof newKeys): Holder;
  /** Certificate of the time-stamp authority. */
  readonly stamper: Buffer;
  /** An RFC 3161 response over these bytes, whose time has so many digits behind the second. */
  stamp(bytes: Buffer, digits?: number): Buffer;
  /** The RFC 3161 response to a request. */
  reply(query: Buffer, digits?: number): Buffer;
}

export const fulcioIssuer = (issuer: string): readonly string[] => [
  `1.3.6.1.4.1.57264.1.8=ASN1:UTF8String:${issuer}`,
];
/** The forerunner of that extension: the bare text. */
export const oldFulcioIssuer = (issuer: string): readonly string[] => [
  `1.3.6.1.4.1.57264.1.1=DER:${Buffer.from(issuer).toString('hex')}`,
];
export const forCode = ['keyUsage=critical,digitalSignature', 'extendedKeyUsage=codeSigning'];

export function makeAuthority(directory: string, name: string): Authority {
  let n = 0;
  const at = (file: string) => join(directory, `${name}-${file}`);
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const config = (file: string, lines: readonly string[]) => {
    writeFileSync(at(file), `${lines.join('\n')}\n`);
    return at(file);
  };
  const request = ['[req]', 'distinguished_name=dn', 'prompt=no', '[dn]'];
  const rootConfig = config('root.cnf', [
    ...request,
    `CN=${name} root`,
    '[ext]',
    'basicConstraints=critical,CA:TRUE',
    'keyUsage=critical,keyCertSign,cRLSign',
    'subjectKeyIdentifier=hash',
  ]);
  openssl(
    ...['req', '-x509', ...newKeys['P-384'], '-nodes', '-config', rootConfig, '-extensions', 'ext'],
    ...['-days', '3650', '-keyout', at('root.key'), '-out', at('root.pem')],
  );

  function issuePem(file: string, extensions: readonly string[], key: keyof typeof newKeys): void {
    const leaf = config(`${file}.cnf`, [...request, `CN=${name} ${file}`]);
    openssl(
      'req',
      ...newKeys[key],
      '-nodes',
      '-config',
      leaf,
      '-keyout',
      at(`${file}.key`),
      '-out',
      at(`${file}.csr`),
    );
    openssl(
      ...[
        'x509',
        '-req',
        '-in',
        at(`${file}.csr`),
        '-CA',
        at('root.pem'),
        '-CAkey',
        at('root.key'),
        '-days',
        '30',
      ],
      ...['-set_serial', String(1000 + n), '-out', at(`${file}.pem`)],
      ...[
        '-extfile',
        config(`${file}.ext`, ['basicConstraints=CA:FALSE', 'authorityKeyIdentifier=keyid', ...extensions]),
      ],
    );
  }

  function reply(query: Buffer, digits = 0): Buffer {
    n += 1;
    writeFileSync(at('serial'), '01\n');
    const tsa = config(`tsa${n}.cnf`, [
      '[tsa]',
      'default_tsa=one',
      '[one]',
      `serial=${at('serial')}`,
      `signer_cert=${at('tsa.pem')}`,
      `signer_key=${at('tsa.key')}`,
      'signer_digest=sha512',
      'default_policy=1.2.3.4',
      'digests=sha256,sha512',
      `clock_precision_digits=${digits}`,
      'crypto_device=builtin',
    ]);
    writeFileSync(at(`${n}.tsq`), query);
    const [from, to] = [at(`${n}.tsq`), at(`${n}.tsr`)];
    openssl('ts', '-reply', '-config', tsa, '-section', 'one', '-queryfile', from, '-out', to);
    return readFileSync(to);
  }

  const derOf = (file: string) => new X509Certificate(readFileSync(at(file))).raw;
  issuePem('tsa', ['extendedKeyUsage=critical,timeStamping', 'keyUsage=critical,digitalSignature'], 'RSA');
  return {
    root: derOf('root.pem'),
    stamper: derOf('tsa.pem'),
    issue(extensions, key = 'P-256') {
      n += 1;
      issuePem(`leaf${n}`, extensions, key);
      return { der: derOf(`leaf${n}.pem`), privateKey: createPrivateKey(readFileSync(at(`leaf${n}.key`))) };
    },
    stamp(bytes, digits = 0) {
      n += 1;
      writeFileSync(at(`stamped${n}`), bytes);
      openssl('ts', '-query', '-data', at(`stamped${n}`), '-sha512', '-no_nonce', '-out', at(`${n}.tsq`));
      return reply(readFileSync(at(`${n}.tsq`)), digits);
    },
    reply,
  };
}

/** A trusted root that names these, and no log unless told. */
export function rootOf(authorities: readonly Authority[], more: object = {}): object {
  const validFor = { start: '2020-01-01T00:00:00Z' };
  const chain = (...certificates: readonly Buffer[]) => ({
    certChain: { certificates: certificates.map((der) => ({ rawBytes: der.toString('base64') })) },
    validFor,
  });
  return {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    certificateAuthorities: authorities.map(({ root }) => chain(root)),
    timestampAuthorities: authorities.map(({ root, stamper }) => chain(stamper, root)),
    ...more,
  };
}

export function sha512(bytes: Buffer): string {
  return createHash('sha512').update(bytes).digest('hex');
}
