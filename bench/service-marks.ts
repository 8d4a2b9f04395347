/*
 * `npm run bench:service-marks`: durable batches of 100 marks through `writ service run` itself, asked over kept
 * connections by a second process, against bare transactions of the same rows on the same SQLite library with the same
 * settings. Exit 1 below a quarter of their rate.
 */
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { figure, median, printTable } from './measure.ts';
import { sized } from './sized.ts';

const rounds = sized(Number(process.env.WRIT_BENCH_ROUNDS ?? 7), 1);
const batchesPerRound = sized(300, 10);
const rowsPerBatch = 100;
const connections = 8;
const leastShare = 0.25;

const directories = Array.from({ length: 40 }, (_, at) => `packages/p-${at % 8}/src/module-${at}`);

/** Rows that no other batch has, in ten directories that are there. */
function pathsOf(batch: number): readonly string[] {
  return Array.from(
    { length: rowsPerBatch },
    (_, row) => `${directories[(batch * 7 + (row % 10)) % directories.length]}/file-${batch}-${row}.test.ts`,
  );
}

interface Task {
  readonly url: string;
  readonly token: string;
  readonly first: number;
}

/** Seconds from the first request sent to the last answer read; every request is made before. */
async function runClient({ url, token, first }: Task): Promise<number> {
  const { hostname, port } = new URL(url);
  const requests = Array.from({ length: batchesPerRound }, (_, at) => {
    const body = Buffer.from(JSON.stringify({ paths: pathsOf(first + at) }));
    const head = `POST /api/service/dirty/mark HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-svc-service-token: ${token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), body]);
  });
  const ask = async (): Promise<void> => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let left = -1;
    const next = (): void => {
      const request = requests.pop();
      left = -1;
      if (request === undefined) resolve();
      else socket.write(request);
    };
    socket.on('error', reject).on('close', () => reject(new Error('the connection was closed')));
    socket.on('data', (part: Buffer) => {
      // Heads are small and come whole; their bodies are counted, not read.
      if (left < 0) {
        const end = part.indexOf('\r\n\r\n');
        const head = part.toString('latin1', 0, end);
        if (end < 0 || !head.startsWith('HTTP/1.1 200 ')) return reject(new Error(part.toString()));
        left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]) - (part.length - end - 4);
      } else left -= part.length;
      if (left === 0) next();
    });
    next();
    await promise;
    socket.removeAllListeners('close').destroy();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: connections }, ask));
  return (performance.now() - began) / 1000;
}

interface Contender {
  /** Batches per second. */
  round(first: number): Promise<number> | number;
  /** Of the processor, by the process that writes. */
  cpuSeconds(): number;
  /** How many rows there are in the end. */
  close(): Promise<number>;
}

/** The service as people start it, and a client in a process of its own. */
async function openService(box: string): Promise<Contender> {
  const repo = join(box, 'repo');
  for (const directory of directories) mkdirSync(join(repo, directory), { recursive: true });
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', ['init', '--quiet'], { cwd: repo, env });
  const writ = fileURLToPath(new URL('../bin/writ.js', import.meta.url));
  // For `--cpu-prof`, say.
  const options = (process.env.WRIT_BENCH_NODE ?? '').split(' ').filter((option) => option !== '');
  const service = spawn(process.execPath, [...options, writ, 'service', 'run'], {
    cwd: repo,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => service.kill());
  const exited = once(service, 'exit');
  const [line] = (await once(createInterface(service.stdout), 'line')) as [string];
  const url = / on (http:[^ ,]+)/.exec(line)?.[1];
  if (url === undefined) throw new Error(line);
  const token = readFileSync(join(repo, '.writ', 'service', 'service-token'), 'utf8');
  const client = fork(fileURLToPath(import.meta.url), ['client'], { stdio: 'inherit' });
  const lost = once(client, 'exit').then(() => {
    throw new Error('the client ended');
  });
  return {
    async round(first) {
      client.send({ url, token, first } satisfies Task);
      const [seconds] = (await Promise.race([once(client, 'message'), lost])) as [number];
      return batchesPerRound / seconds;
    },
    cpuSeconds: () => cpuSeconds(service.pid ?? 0),
    async close() {
      const answer = await fetch(`${url}/api/service/dirty`, { headers: { 'x-svc-service-token': token } });
      const { count } = (await answer.json()) as { readonly count: number };
      lost.catch(() => {});
      client.disconnect();
      service.kill('SIGTERM');
      await exited;
      return count;
    },
  };
}

/** Of a process on Linux, whose clock ticks a hundred times a second; not a number elsewhere. */
function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

/** What a program of its own would do that trusted its input: begin, a hundred inserts, commit. */
function openBare(box: string): Contender {
  const library: typeof import('node-sqlite3-wasm') = createRequire(import.meta.url)('node-sqlite3-wasm');
  const database = new library.Database(join(box, 'bare.db'));
  database.exec('PRAGMA busy_timeout = 1000');
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  const mode = database.get('PRAGMA journal_mode = WAL')?.journal_mode;
  if (mode !== 'wal') throw new Error(`the journal mode is ${mode}`);
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA journal_size_limit = ${4 * 1024 * 1024}`);
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
  database.exec(
    `CREATE TABLE dirty (path TEXT NOT NULL PRIMARY KEY CHECK (path <> ''), marked_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  );
  const insert = database.prepare('INSERT INTO dirty VALUES (?, ?)');
  return {
    round(first) {
      const batches = Array.from({ length: batchesPerRound }, (_, at) => pathsOf(first + at));
      const began = performance.now();
      for (const paths of batches) {
        database.exec('BEGIN IMMEDIATE');
        const now = Date.now();
        for (const path of paths) insert.run([path, now]);
        database.exec('COMMIT');
      }
      return batchesPerRound / ((performance.now() - began) / 1000);
    },
    cpuSeconds: () => cpuSeconds(process.pid),
    async close() {
      const count = Number(database.get('SELECT count(*) AS marks FROM dirty')?.marks);
      insert.finalize();
      database.close();
      return count;
    },
  };
}

async function benchServiceMarks(): Promise<boolean> {
  const box = mkdtempSync(join(tmpdir(), 'writ-bench-marks-'));
  try {
    const contenders = { service: await openService(box), bare: openBare(box) };
    const rates = { service: [] as number[], bare: [] as number[] };
    const cpu = { service: [] as number[], bare: [] as number[] };
    // The first round warms both up and is not counted.
    for (let round = 0; round <= rounds; round += 1)
      for (const name of ['service', 'bare'] as const) {
        const before = contenders[name].cpuSeconds();
        const rate = await contenders[name].round(round * batchesPerRound);
        if (round === 0) continue;
        rates[name].push(rate);
        cpu[name].push(((contenders[name].cpuSeconds() - before) / batchesPerRound) * 1000);
      }
    const rows = (rounds + 1) * batchesPerRound * rowsPerBatch;
    for (const [name, contender] of Object.entries(contenders)) {
      const found = await contender.close();
      if (found !== rows) throw new Error(`${name}: expected ${rows} rows, found ${found}`);
    }
    const [ours, bare] = [median(rates.service), median(rates.bare)];
    const detail = `${ours.toFixed(0)} against ${bare.toFixed(0)} durable batches/s: ${((100 * ours) / bare).toFixed(0)} %; of the processor ${median(cpu.service).toFixed(2)} against ${median(cpu.bare).toFixed(2)} ms a batch`;
    return figure('durable batches of 100 marks, bare / service', bare / ours, 1 / leastShare, 'x', detail);
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}

if (process.argv[2] === 'client') {
  process.on('message', (task: Task) => {
    void runClient(task).then((seconds) => process.send?.(seconds));
  });
} else {
  const held = await benchServiceMarks();
  printTable();
  process.exitCode = held ? 0 : 1;
}
