/** One promise of document 2 (or of resolutions B), and the test that fails when it is broken. */
export interface SessionRow {
  /** Its kind and its name as the contract has them: `option --port`, `route GET /api/code/session`. */
  readonly id: string;
  /** Section of the document. */
  readonly section: string;
  readonly rule: string;
  readonly test: string;
  /** Title of the test in that file, or its beginning. */
  readonly named: string;
}

/** A promise that is not kept yet, or kept without a test. */
export interface SessionRest extends Pick<SessionRow, 'id' | 'section' | 'rule'> {
  /** The part that brings it; `differs`: it is done otherwise; `untested`: it is done and nobody would notice its end. */
  readonly later: 'screens' | 'providers' | 'approvals' | 'differs' | 'untested';
  readonly why: string;
}

/** Rows of one test: by id what holds. */
export function heldBy(
  section: string,
  test: string,
  named: string,
  rules: Readonly<Record<string, string>>,
): readonly SessionRow[] {
  return Object.entries(rules).map(([id, rule]) => ({ id, section, rule, test, named }));
}

/** A file of tests of sessions. */
export function ofSession(name: string): string {
  return `test/session/${name}.test.ts`;
}
