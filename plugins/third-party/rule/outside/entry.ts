/* The process in the sandbox: one module, one question on standard input, one answer on standard output. */
import { readFileSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { answerMark, fromWire, type WireAnswer } from './wire.ts';

// Output that a rule prints is not an answer. It goes to descriptor 2; if the rule fails, writ shows a truncated
// copy.
const aside = new Writable({
  write(chunk: Buffer, _encoding, done) {
    for (let at = 0; at < chunk.length; ) at += writeSync(2, chunk, at);
    done();
  },
});
Object.defineProperty(process, 'stdout', { value: aside });

function toLine(answer: WireAnswer): string {
  return `${answerMark}${JSON.stringify(answer)}\n`;
}

function toRefusal(thrown: unknown): WireAnswer {
  const isError = thrown instanceof Error;
  const name = isError ? thrown.name : typeof thrown;
  return {
    ok: false,
    name: name.slice(0, 200),
    message: (isError ? thrown.message : String(thrown)).slice(0, 1000),
  };
}

async function ask(module: string): Promise<string> {
  try {
    const input = fromWire(readFileSync(0, 'utf8'));
    const loaded = (await import(module)) as { readonly judge?: unknown };
    if (typeof loaded.judge !== 'function') throw new TypeError('the module exports no function `judge`');
    return toLine({ ok: true, value: await loaded.judge(input) });
  } catch (thrown) {
    return toLine(toRefusal(thrown));
  }
}

// A rule that leaves a timer running has not ended: the process stays, and the deadline ends it.
const line = Buffer.from(await ask(process.argv[2] ?? ''));
for (let at = 0; at < line.length; ) at += writeSync(1, line, at);
