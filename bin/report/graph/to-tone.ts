type Tone = 'good' | 'bad' | 'open';

/** A map: a tag may be a word of a record that anybody wrote, `constructor` for one. */
const tones: ReadonlyMap<string, Tone> = new Map([
  ['commit', 'good'],
  ['passed', 'good'],
  ['merge', 'good'],
  ['applied', 'good'],
  ['abandon', 'bad'],
  ['stop', 'bad'],
  ['rollback', 'bad'],
  ['failed', 'bad'],
  ['rejected', 'bad'],
  ['damaged', 'bad'],
  ['missing', 'bad'],
  ['retry', 'open'],
  ['replan', 'open'],
  ['wait-for-approval', 'open'],
  ['wait-for-budget', 'open'],
  ['waiting', 'open'],
  ['interrupted', 'open'],
  ['running', 'open'],
]);

/** How a tag of a node is meant, for colours; `undefined` for one that is neither good nor bad. */
export function toTone(tag: string): Tone | undefined {
  return tones.get(tag);
}
