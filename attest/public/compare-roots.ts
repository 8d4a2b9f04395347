/* Compares two trusted roots service by service. */
import { createHash, X509Certificate } from 'node:crypto';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { Root } from './trusted-root.ts';

/** What a trusted root names. */
type ServiceKind = 'certificate-authority' | 'certificate-log' | 'transparency-log' | 'time-stamp-authority';

/**
 * How a service differs from the one of the old root. `ended`: its validity ends, or ends earlier. `extended`: its end
 * is gone, or is later. `changed`: another start, address or chain.
 */
type ServiceChange = 'added' | 'removed' | 'ended' | 'extended' | 'changed' | 'kept';

/** Validity period of a service, in epoch milliseconds. Without `endMs` it has no end. */
export interface Validity {
  readonly startMs: number;
  readonly endMs?: number;
}

/** A log or an authority of a trusted root. */
export interface RootService {
  readonly kind: ServiceKind;
  /** The address of a log, the subjects of all certificates of an authority. */
  readonly name: string;
  /** SHA-256, hex: of the key of a log, of the first certificate of an authority. */
  readonly sha256: string;
  /** SHA-256, hex, of the DER of all certificates of an authority, one after another; empty for a log. */
  readonly chainSha256: string;
  readonly validity: Validity;
  /** SHA-256, hex, of what a verifier reads of a log beside its key; empty for an authority. */
  readonly rest: string;
}

export interface ComparedService extends Omit<RootService, 'rest'> {
  readonly change: ServiceChange;
  /** The service of the old root, if its validity or its chain was another. */
  readonly before?: Pick<RootService, 'validity' | 'chainSha256'>;
}

export interface ComparedRoots {
  /** Services of both roots: those of the new one in its order by kind, then those that were removed. */
  readonly services: readonly ComparedService[];
  /** Kinds of which the old root names services, and the new one none of those. */
  readonly lost: readonly ServiceKind[];
  /** Kinds with no current service in the new root: signatures made now do not verify with them. */
  readonly ended: readonly ServiceKind[];
  /** The service of the new root with the latest start of validity. */
  readonly newest: RootService | undefined;
}

/**
 * Compares two trusted roots. A service is the same in both where the key of the log, or the first certificate of the
 * authority, is. If a root lists one several times (other periods), equal entries are paired first, the others in the
 * order of the roots; a repeated entry counts once.
 */
export function compareRoots(before: Root | undefined, after: Root, nowMs: number): ComparedRoots {
  const found = servicesOf(after);
  const known = new Map((before ? servicesOf(before) : []).map((service) => [keyOf(service), service]));
  const equal = new Map(found.map((service) => [service, known.get(keyOf(service))]));
  for (const service of found) known.delete(keyOf(service));
  const waiting = Map.groupBy(known.values(), identityOf);
  const services: ComparedService[] = found.map((service) => {
    const old = equal.get(service) ?? waiting.get(identityOf(service))?.shift();
    return describe(service, changeOf(old, service), old);
  });
  const removed = [...waiting.values()].flat();
  const open = new Set(
    found.filter(({ validity: { endMs = Infinity } }) => endMs > nowMs).map(({ kind }) => kind),
  );
  const kept = new Set(services.filter(({ change }) => change !== 'added').map(({ kind }) => kind));
  return {
    services: [...services, ...removed.map((service) => describe(service, 'removed'))],
    lost: [...new Set(removed.map(({ kind }) => kind))].filter((kind) => !kept.has(kind)),
    ended: [...new Set(found.map(({ kind }) => kind))].filter((kind) => !open.has(kind)),
    newest: found.reduce<RootService | undefined>(
      (newest, one) => (newest && newest.validity.startMs >= one.validity.startMs ? newest : one),
      undefined,
    ),
  };
}

function describe(
  { rest: _, ...service }: RootService,
  change: ServiceChange,
  old?: RootService,
): ComparedService {
  const { validity, chainSha256 } = service;
  const isSame =
    old === undefined ||
    (old.validity.startMs === validity.startMs &&
      old.validity.endMs === validity.endMs &&
      old.chainSha256 === chainSha256);
  return {
    ...service,
    change,
    ...(!isSame && { before: { validity: old.validity, chainSha256: old.chainSha256 } }),
  };
}

function changeOf(old: RootService | undefined, found: RootService): ServiceChange {
  if (old === undefined) return 'added';
  const [was, is] = [old.validity.endMs ?? Infinity, found.validity.endMs ?? Infinity];
  if (is < was) return 'ended';
  if (is > was) return 'extended';
  const isSame = old.validity.startMs === found.validity.startMs && old.rest === found.rest;
  return isSame && old.name === found.name && old.chainSha256 === found.chainSha256 ? 'kept' : 'changed';
}

function identityOf({ kind, sha256 }: RootService): string {
  return `${kind} ${sha256}`;
}

function keyOf(service: RootService): string {
  return JSON.stringify(service);
}

/** Each service once. */
function servicesOf(root: Root): readonly RootService[] {
  const all = [
    ...root.certificateAuthorities.map((one) => toAuthority('certificate-authority', one)),
    ...root.ctlogs.map((one) => toLog('certificate-log', one)),
    ...root.tlogs.map((one) => toLog('transparency-log', one)),
    ...root.timestampAuthorities.map((one) => toAuthority('time-stamp-authority', one)),
  ];
  return [...new Map(all.map((service) => [keyOf(service), service])).values()];
}

function toLog(
  kind: ServiceKind,
  { baseUrl, publicKey, logId, checkpointKeyId }: Root['tlogs'][number],
): RootService {
  const ids = [logId, checkpointKeyId].map((id) => id?.keyId ?? Buffer.alloc(0));
  return {
    kind,
    name: baseUrl,
    sha256: digestOf([publicKey?.rawBytes ?? Buffer.alloc(0)]),
    chainSha256: '',
    validity: toValidity(publicKey?.validFor),
    rest: digestOf(ids),
  };
}

function toAuthority(
  kind: ServiceKind,
  { certChain, validFor }: Root['certificateAuthorities'][number],
): RootService {
  const chain = (certChain?.certificates ?? []).map(({ rawBytes }) => rawBytes);
  const [first] = chain;
  return {
    kind,
    name: chain.map((der) => new X509Certificate(der).subject.split('\n').join(', ')).join(', issued by '),
    sha256: digestOf(first === undefined ? [] : [first]),
    chainSha256: sha256Hex(Buffer.concat(chain)),
    validity: toValidity(validFor),
    rest: '',
  };
}

function toValidity(
  period: { readonly start?: Date | undefined; readonly end?: Date | undefined } = {},
): Validity {
  return {
    startMs: period.start?.getTime() ?? 0,
    ...(period.end && { endMs: period.end.getTime() }),
  };
}

/** SHA-256 over parts with their lengths. */
function digestOf(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
