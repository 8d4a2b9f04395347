import type { IPty } from '@lydell/node-pty';
import { until } from '../../waiting/until.ts';
import { type Emulator, openEmulator, type Place } from './open-emulator.ts';

/** What a terminal sends for keys that are no text. */
const sent = {
  // Enter of the number pad: the text before it is sent less than 30 ms earlier, and '\r' there is a paste.
  enter: '\x1bOM',
  escape: '\x1b',
  tab: '\t',
  'shift+tab': '\x1b[Z',
  backspace: '\x7f',
  delete: '\x1b[3~',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  home: '\x1b[H',
  end: '\x1b[F',
  'page-up': '\x1b[5~',
  'page-down': '\x1b[6~',
} as const;

export type Pressed = keyof typeof sent | `ctrl+${string}` | `alt+${string}`;

export interface SceneOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** What lies between the person and the program; answers whoever carries octets on to `deliver`. */
  readonly line?: (deliver: (bytes: Uint8Array) => void) => (bytes: Uint8Array) => void;
}

/** A program in a real pseudo terminal, and a person before it. */
export interface TerminalScene extends AsyncDisposable {
  readonly pid: number;
  /** Octets that the program has written so far. */
  bytes(): number;
  /** All that the program has written so far, as it came. */
  raw(): string;
  screen(): readonly string[];
  scrollback(): readonly string[];
  lines(): readonly string[];
  cursor(): Place;
  lookAt: Emulator['lookAt'];
  type(text: string): void;
  press(...keys: readonly Pressed[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** Resolves once the text is on the screen, or what is asked of the screen holds. */
  until(what: string | RegExp | ((screen: string) => boolean)): Promise<void>;
  signal(name: string): void;
  /** The exit code, and the signal where one ended it. */
  readonly exited: Promise<{ readonly exitCode: number; readonly signal?: number }>;
}

const pty = await import('@lydell/node-pty').catch((fault: unknown) => String(fault));
let isBuilt = typeof pty !== 'string';
if (typeof pty !== 'string') {
  try {
    pty.spawn(process.execPath, ['--version'], {}).kill();
  } catch {
    isBuilt = false;
  }
}

/** Why tests in a pseudo terminal are skipped here; `false` where they are not. */
export const noPty: string | false = isBuilt
  ? false
  : `no pseudo terminals on ${process.platform} ${process.arch}`;

export function openTerminalScene(options: SceneOptions): TerminalScene {
  if (typeof pty === 'string') throw new Error(pty);
  const { program, args, cwd, columns = 80, rows = 24 } = options;
  const emulator = openEmulator(columns, rows);
  const child: IPty = pty.spawn(program, [...args], {
    name: options.env?.TERM ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
    encoding: null,
  });
  const come: Buffer[] = [];
  let taken = 0;
  let shown: Promise<void> = Promise.resolve();
  const { line = (deliver) => deliver } = options;
  const see = line((bytes) => {
    come.push(Buffer.from(bytes));
    shown = emulator.write(bytes).then(() => {
      taken += 1;
    });
  });
  // What is cut within a character is no text: the terminal takes octets, whatever its type says.
  const keys = line((bytes) => child.write(Buffer.from(bytes) as unknown as string));
  const write = (text: string): void => keys(Buffer.from(text));
  child.onData((data: string | Uint8Array) => see(Buffer.from(data)));
  emulator.onAnswer(write);
  let isRunning = true;
  const exited = new Promise<{ readonly exitCode: number; readonly signal?: number }>((resolve) => {
    child.onExit((end) => {
      isRunning = false;
      // The last that it wrote is not yet on the screen.
      void shown.then(() => resolve(end));
    });
  });
  const seen = (): string => emulator.screen().join('\n');
  return {
    pid: child.pid,
    bytes: () => come.reduce((sum, { length }) => sum + length, 0),
    raw: () => Buffer.concat(come).toString(),
    screen: () => emulator.screen(),
    scrollback: () => emulator.scrollback(),
    lines: () => emulator.lines(),
    cursor: () => emulator.cursor(),
    lookAt: (row, column) => emulator.lookAt(row, column),
    type: write,
    press: (...pressed) => write(pressed.map(toSent).join('')),
    paste: (text) => write(`\x1b[200~${text.replaceAll('\n', '\r')}\x1b[201~`),
    resize: (to, high) => {
      emulator.resize(to, high);
      child.resize(to, high);
    },
    until: async (what) => {
      const holds = (): boolean => {
        if (typeof what === 'function') return what(seen());
        return typeof what === 'string' ? seen().includes(what) : what.test(seen());
      };
      try {
        await until(holds, `${what}`, () => taken);
      } catch (fault) {
        throw new Error(`${fault}; on the screen:\n${seen()}`);
      }
    },
    signal: (name) => child.kill(name),
    exited,
    [Symbol.asyncDispose]: async () => {
      if (isRunning) child.kill('SIGKILL');
      await exited;
    },
  };
}

function toSent(key: Pressed): string {
  const [, modifier, rest] = /^(ctrl|alt)\+(.+)$/.exec(key) ?? [];
  if (modifier === 'alt') return `\x1b${rest}`;
  if (modifier === 'ctrl') return String.fromCharCode((rest ?? '@').toUpperCase().charCodeAt(0) & 0x1f);
  return key in sent ? sent[key as keyof typeof sent] : '';
}
