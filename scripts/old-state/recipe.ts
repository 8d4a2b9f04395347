import type { Claim, Json } from '../../test/compatibility/old-state.ts';
import { type Place, sampleIntent, samplePatch } from './place.ts';

/** A claim before the old program has answered it. Exit 0 unless set; `recorded` is what the old program ends with. */
export type Expectation = Omit<Claim, 'exit' | 'facts'> & { readonly exit?: number | 'recorded' };

/** How a state is made. */
export interface Recipe {
  readonly about: string;
  /** How many claims `npm test` checks. */
  readonly sample?: number;
  /** The files of the repository's first commit; the sample of `fixtures/runs` unless set. */
  readonly files?: string;
  /** Makes the state, and returns what has to hold of it. */
  make(place: Place): Promise<readonly Expectation[]>;
}

/** The members of `writ run` that recipes use. */
export interface RunData {
  readonly run_id: string;
  readonly thread_id: string;
  readonly state: string;
  readonly decision?: { readonly type: string };
}

/** Runs the sample's patch against its spec with `more` merged into it. */
export async function runSample(
  place: Place,
  more: Json = {},
  options: {
    readonly exit?: number;
    readonly env?: Readonly<Record<string, string>>;
    readonly args?: readonly string[];
  } = {},
): Promise<RunData> {
  const { args = [], ...rest } = options;
  const line = ['run', sampleIntent(place, more), '--patch', samplePatch(place), ...args];
  return (await place.writ(line, rest)) as unknown as RunData;
}

/** What has to hold of every sealed run at the tip of the branch; `verify` are further options of the verification. */
export function sealedClaims(
  { run_id: run, thread_id: thread }: RunData,
  verify: readonly string[] = [],
): readonly Expectation[] {
  return [
    { run: ['verify', 'HEAD', '--replay', ...verify] },
    { run: ['fsck'] },
    { run: ['show', run] },
    { run: ['replay', run] },
    { run: ['runs'] },
    { run: ['graph', thread] },
    { run: ['spec', 'show', '--current', 'sample-intent-0001'] },
  ];
}

/** What has to hold of every run that was not sealed. */
export function unsealedClaims({ run_id: run }: RunData): readonly Expectation[] {
  return [{ run: ['show', run] }, { run: ['runs'] }, { run: ['fsck'] }];
}
