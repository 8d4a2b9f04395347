import type { ObjectType } from '../../engine/store/object-shapes.ts';
import type { StoredObject } from '../../engine/store/stored-object.ts';
import { type DrawnType, toObjectPath } from './object-path.ts';
import { type ParsedFile, parseFile } from './parse-files.ts';
import type { RunRecord } from './thread-record.ts';

/** An object of a record with the place that it has there. */
export interface Placed<T extends ObjectType> {
  readonly path: string;
  /** '' of the run as a whole, else of an attempt or a candidate. */
  readonly folder: string;
  readonly parsed: ParsedFile<T>;
}

/** What a record holds, sorted out; each in the order in which it came about. */
export interface RunParts {
  readonly top: ParsedFile<'run'> | undefined;
  /** Attempts at Tasks, and candidates that were handed back. */
  readonly attempts: readonly Placed<'run'>[];
  readonly plans: readonly Placed<'plan'>[];
  readonly tasks: readonly Placed<'task'>[];
  readonly patchsets: readonly Placed<'patchset'>[];
  readonly evidence: readonly Placed<'evidence'>[];
  readonly decisions: readonly Placed<'decision'>[];
}

/** Reads every file of a record that is drawn; what is damaged stands in its place. */
export function toRunParts({ files }: Pick<RunRecord, 'files'>): RunParts {
  const of = <T extends DrawnType & ObjectType>(type: T): readonly Placed<T>[] =>
    files.flatMap((file) => {
      const at = toObjectPath(file.path);
      return at?.type === type ? [{ path: file.path, folder: at.folder, parsed: parseFile(type, file) }] : [];
    });
  const runs = of('run').toSorted(by(({ started_at: at }) => Date.parse(at)));
  const attempts = runs.filter(({ folder }) => folder !== '');
  const turn = new Map(attempts.map(({ folder }, index) => [folder, index]));
  const inTurn = (a: { readonly folder: string }, b: { readonly folder: string }): number =>
    (turn.get(a.folder) ?? attempts.length) - (turn.get(b.folder) ?? attempts.length);
  return {
    top: runs.find(({ folder }) => folder === '')?.parsed,
    attempts,
    plans: of('plan').toSorted(by(({ revision }) => revision)),
    tasks: of('task').toSorted(by(({ number = 0 }) => number)),
    patchsets: of('patchset').toSorted(inTurn),
    evidence: of('evidence').toSorted(inTurn),
    decisions: of('decision').toSorted(by(({ created_at: at }) => Date.parse(at))),
  };
}

/** Order of objects by a number of theirs; damaged ones come first. */
function by<T extends ObjectType>(toNumber: (object: StoredObject<T>) => number) {
  const rank = ({ parsed }: Placed<T>): number => (parsed.object ? toNumber(parsed.object) : -1);
  return (a: Placed<T>, b: Placed<T>): number => rank(a) - rank(b);
}
