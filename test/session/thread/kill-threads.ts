import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { auditName, listAuditFiles, verifyAudit } from '../../../session/audit/read-audit.ts';
import type { Happened, ToolStatus } from '../../../session/state/fact.ts';
import { readThread } from '../../../session/thread/read-thread.ts';

const program = fileURLToPath(new URL('say-program.ts', import.meta.url));

/** What came of killing the program again and again. */
export interface KilledThreads {
  readonly complaints: readonly string[];
  readonly said: number;
  readonly effects: number;
  /** Tool calls of which nobody knows how far they got. */
  readonly unknown: number;
  readonly answered: number;
}

interface Acknowledged {
  said: number;
  readonly asked: Set<string>;
  readonly answered: Set<string>;
}

/**
 * Kills a process that talks in a thread, round after round at another of its writes, and looks each time whether
 * everything is there that it had acknowledged, each effect once and none without its record.
 */
export async function killThreads(
  box: string,
  rounds: number,
  random: () => number,
  report: (line: string) => void = () => {},
): Promise<KilledThreads> {
  const [directory, home, effects] = ['thread', 'home', 'effects'].map((name) => join(box, name)) as [
    string,
    string,
    string,
  ];
  const acknowledged: Acknowledged = { said: 0, asked: new Set(), answered: new Set() };
  const complaints: string[] = [];
  let facts: readonly Happened[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const nth = 1 + Math.floor(random() * random() * 120);
    const how = ['before', 'half', 'after'][Math.floor(random() * 3)] ?? 'before';
    const before = complaints.length;
    const complain = (what: string): void =>
      void complaints.push(`round ${round}, ${how} write ${nth}: ${what}`);
    const { lines, fault } = await talk([directory, home, effects, `${nth}`, how]);
    if (fault !== undefined) complain(fault);
    for (const line of lines) note(acknowledged, line);
    facts = await readFacts(directory, home, complain);
    const ran = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
    for (const what of faultsOf(facts, ran, acknowledged)) complain(what);
    const known = await userJournalWitness({ HOME: home }).look(auditName('t'));
    const audit = await verifyAudit(directory, await listAuditFiles(directory), known);
    if (audit.problems.length > 0) complain(`its audit log is not whole: ${JSON.stringify(audit.problems)}`);
    if (audit.end.seq < acknowledged.said + acknowledged.answered.size)
      complain(`${audit.end.seq} lines of audit for ${acknowledged.said} messages`);
    report(`${complaints.length === before ? 'ok ' : 'BAD'} ${how} write ${nth}: ${facts.length} facts`);
  }
  const ended = finalStatus(facts);
  return {
    complaints,
    said: acknowledged.said,
    effects: [...ended.keys()].filter((id) => id.startsWith('tool-')).length,
    unknown: [...ended.values()].filter((status) => status === 'unknown').length,
    answered: acknowledged.answered.size,
  };
}

async function talk(
  given: readonly string[],
): Promise<{ readonly lines: readonly string[]; readonly fault?: string }> {
  const child = spawn(process.execPath, [program, ...given], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const signal = await new Promise((resolve) => child.on('close', (_code, by) => resolve(by)));
  const lines = out.split('\n').slice(0, -1);
  return signal === 'SIGKILL' ? { lines } : { lines, fault: `it ended by itself: ${err.slice(0, 2000)}` };
}

function note(acknowledged: Acknowledged, line: string): void {
  const [what, of = ''] = line.split(' ');
  if (what === 'asked') acknowledged.asked.add(of);
  if (what === 'answered') acknowledged.answered.add(of);
  if (what === 'said') acknowledged.said = Number(of);
}

async function readFacts(
  directory: string,
  home: string,
  complain: (what: string) => void,
): Promise<readonly Happened[]> {
  try {
    const { proven } = await readThread(directory, 't', userJournalWitness({ HOME: home }));
    if (proven === undefined) complain('nobody vouches for the thread any more');
    return proven?.facts ?? [];
  } catch (fault) {
    // Killed before its first record was whole.
    if ((fault as { readonly code?: string }).code !== 'THREAD_NOT_FOUND') complain(String(fault));
    return [];
  }
}

function* faultsOf(
  facts: readonly Happened[],
  ran: readonly string[],
  { said, asked, answered }: Acknowledged,
): Generator<string> {
  const texts = facts.flatMap((fact) => (fact.type === 'said' ? [fact.text] : []));
  if (texts.some((text, at) => text !== `${at + 1}`.padStart(3, '0')))
    yield `messages are not each there once: ${texts}`;
  if (texts.length < said) yield `message ${said} was acknowledged, the last one there is ${texts.length}`;
  const questions = new Set(facts.flatMap((fact) => (fact.type === 'asked' ? [fact.interaction.id] : [])));
  for (const id of asked) if (!questions.has(id)) yield `the question ${id} was shown and is not there`;
  const answers = facts.flatMap((fact) => (fact.type === 'answered' ? [fact.id] : []));
  if (new Set(answers).size < answers.length) yield 'a question was answered twice';
  for (const id of answered)
    if (!answers.includes(id)) yield `the answer to ${id} was acknowledged and is not there`;
  const ended = finalStatus(facts);
  for (const id of ran)
    if (ended.get(id.replace('tool-', 'look-')) !== 'completed')
      yield `${id} acted, and what was looked at before it is not told`;
  if (new Set(ran).size < ran.length) yield 'an effect was had twice';
  for (const id of ran) if (!ended.has(id)) yield `the effect of ${id} was had and no record says so`;
  for (const [id, status] of ended)
    if (id.startsWith('tool-') && status === 'completed' && !ran.includes(id))
      yield `${id} is told as completed and had no effect`;
  const running = [...ended.values()].filter((status) => status === 'running').length;
  if (running > 1)
    yield `${running} tool calls run at once: what a killed process had begun is not told as unknown`;
}

function finalStatus(facts: readonly Happened[]): ReadonlyMap<string, ToolStatus> {
  return new Map(facts.flatMap((fact) => (fact.type === 'tool' ? [[fact.id, fact.status] as const] : [])));
}
