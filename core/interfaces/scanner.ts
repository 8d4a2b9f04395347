/* The settings and results of third-party scanners. */
export const scanFormats = ['sarif', 'cyclonedx-vdr', 'osv'] as const;
export type ScanFormat = (typeof scanFormats)[number];

/** Levels of results, worst first. */
export const scanLevels = ['error', 'warning', 'note'] as const;
export type ScanLevel = (typeof scanLevels)[number];

/** One `[[scanner.NAME.ignore]]`: a result that an owner accepts until a day. */
export interface ScanIgnore {
  /** Id of the rule or vulnerability, exactly as the report names it. */
  readonly rule: string;
  /** Glob over repository paths; absent: every path. */
  readonly path?: string;
  readonly owner: string;
  /** `YYYY-MM-DD`, the last day on which it holds. */
  readonly until: string;
  readonly reason: string;
}

/** How the report of a scanner is read and evaluated. */
export interface ScanRules {
  readonly name: string;
  readonly format: ScanFormat;
  /** `stdout`, or the name of a file in `$REPORTS_DIR`. */
  readonly report: string;
  /** Exit codes with which the program reports that it finished. */
  readonly exitCodes: readonly number[];
  /** The version that the report has to name. */
  readonly version?: string;
  /** New results of this level and above are errors. */
  readonly failOn: ScanLevel;
  readonly ignore: readonly ScanIgnore[];
}

/** What a scan showed; `reports` are SHA-256 of artifacts of the check, absent if there was no report to read. */
export interface ScanRecord {
  readonly name: string;
  readonly format: ScanFormat;
  /** Name and version as the report of the candidate states them. */
  readonly tool?: string;
  readonly version?: string;
  /** Of the program, of each read-only directory, and of each rule file at the policy commit. */
  readonly inputs: readonly { readonly path: string; readonly sha256: string }[];
  readonly reports: { readonly base?: string; readonly candidate?: string };
  readonly results: Readonly<Record<'new' | 'unchanged' | 'absent' | 'ignored', number>>;
  /** Name of the artifact that the report of the candidate may serve as, if no check delivers it. */
  readonly supplies?: string;
}

/** What the evaluation of a scan adds to the outcome of its check. */
export interface ScanOutcome extends Pick<ScanRecord, 'tool' | 'version' | 'results' | 'supplies'> {
  /** With the state of each result compared with the base, except for `osv`. */
  readonly candidate?: Uint8Array;
  readonly base?: Uint8Array;
  readonly contentType: string;
  readonly extension: string;
}

/** Why the egress proxy refused a connection, or why the connection failed. */
export type NetworkObstacle =
  /** The request or the name of the host cannot be read one way only. */
  | 'malformed'
  | 'not-listed'
  | 'port'
  /** One of the host's addresses is not public, or is this machine's own. */
  | 'address'
  /** Plain HTTP with a `Host` header that names another host. */
  | 'host-header'
  | 'not-tls'
  | 'no-server-name'
  | 'encrypted-hello'
  /** TLS for a host that differs from the tunnel's target. */
  | 'server-name'
  /** More connections or bytes than a check may have. */
  | 'limit'
  | 'unresolved'
  | 'unreachable'
  | 'time';

/** Connections of a check to one host that ended alike. */
export interface NetworkUse {
  /** In normal form; of a target that cannot be read, what was readable of it. */
  readonly host: string;
  /** 0 where none could be read. */
  readonly port: number;
  readonly via: 'connect' | 'http';
  /** `failed`: let through, and then there was no connection. */
  readonly outcome: 'allowed' | 'refused' | 'failed';
  readonly why?: NetworkObstacle;
  /** The address that was connected to, or the one for which it was refused. */
  readonly address?: string;
  /** `networkReason` of the rules that open the host, or that the policy opens all. */
  readonly reasons: readonly string[];
  readonly connections: number;
  /** Of what is inside the tunnel, or of the bodies. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** The network of a check that had one. */
export interface CheckNetwork {
  /**
   * What was open to it; `*` is every public host. Where its commands match several rules, a host has to be open to
   * each command.
   */
  readonly opened: readonly { readonly hosts: readonly string[]; readonly reason: string }[];
  readonly uses: readonly NetworkUse[];
}
