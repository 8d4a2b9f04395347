import {
  type CitationsRecord,
  citationsPath,
  maxDecisions,
  parseCitations,
} from '../../store/record/citations.ts';
import type { DecisionRecord } from './decision-input.ts';

const file = `/${citationsPath}`;

/** What the attempts whose work was taken rest on, in the order of their names; `undefined` where none had to say. */
export function citationsIn(made: readonly (readonly [string, Uint8Array])[]): CitationsRecord | undefined {
  const files = new Map(made);
  let needed = 0;
  const decisions = made.flatMap(([path, bytes]): CitationsRecord['first'] => {
    if (!path.endsWith(file)) return [];
    const attempt = path.slice(0, -file.length);
    const decided = files.get(`${attempt}/decision-record.json`);
    if (decided === undefined) return [];
    const { next } = JSON.parse(Buffer.from(decided).toString('utf8')) as DecisionRecord;
    const record = parseCitations(bytes);
    needed = record.needed;
    return next === 'merge' ? record.first.map((one) => ({ ...one, attempt })) : [];
  });
  if (needed === 0 && decisions.length === 0) return undefined;
  return {
    schema: 'urn:writ:citations:v1',
    needed,
    steps: 0,
    count: decisions.length,
    first: decisions.slice(0, maxDecisions),
  };
}
