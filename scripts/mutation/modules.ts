/** A part of the sources whose tests are measured by mutation, one per run. */
export interface MutatedModule {
  /** Folders whose sources are mutated. */
  readonly sources: readonly string[];
  /** Folders whose tests have to notice: all `*.test.ts` below them. */
  readonly tests: readonly string[];
  /** Percentage of mutants that the tests detect at least. It may rise, and never falls. */
  readonly threshold: number;
}

export const mutatedModules: Readonly<Record<string, MutatedModule>> = {
  attest: { sources: ['attest'], tests: ['test/attest'], threshold: 80 },
  decide: { sources: ['engine/decide'], tests: ['test/engine/decide'], threshold: 80 },
  gates: { sources: ['gates'], tests: ['test/gates'], threshold: 70 },
  machine: { sources: ['session/state'], tests: ['test/session/state'], threshold: 70 },
};
