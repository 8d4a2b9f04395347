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
