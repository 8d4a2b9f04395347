import { type Guard, within } from './guard.ts';

const port = 'test/coder/codex/port.test.ts';
const socket = 'test/engine/run/work/agent/web-socket.test.ts';
const attacked = 'who serves at a port of its sandbox';
const unknown = 'what no server says is broken';
const refused = 'a server that does not take us';

/** What holds others off a program that is talked with at a port of its sandbox. */
export const guards: readonly Guard[] = [
  ...within('coder/codex/home.ts', port, [
    ['a token for each start', "randomOctets(32).toString('hex')", "'0'.repeat(64)", 'a start with a port'],
    [
      'the digest of a token',
      "'--ws-token-sha256', sha256Hex(token)",
      "'--ws-token-sha256', token",
      'a start with',
    ],
  ]),
  ...within('engine/run/work/agent/unreadable-programs.ts', port, [
    ['programs that others look into', 'const runAlone = 0o111;', 'const runAlone = 0o755;', attacked],
  ]),
  ...within('engine/run/work/agent/relay-inside.ts', port, [
    [
      'a look before the token is told',
      '{ stdio: "ignore" }).status !== 0)',
      '{ stdio: "ignore" }).status === 99)',
      'a program that others could look into',
    ],
    [
      'ports of somebody else',
      'to().on("connect", () => end(',
      'to().on("connect", () => start(',
      'a port that something else has',
    ],
  ]),
  ...within('engine/run/work/work-attempt.ts', port, [
    ['ports under their own code', "  'AGENT_PORT_UNUSABLE',\n", '', 'a port that something else has'],
  ]),
  ...within('providers/codex/source.ts', 'test/providers/sources.test.ts', [
    ['ports with a privilege', 'Number(port) >= ports.least && ', '', 'Codex takes a port'],
    ['ports that are none', ' && Number(port) <= ports.most', '', 'Codex takes a port'],
    ['other ways to write a port', '/^[1-9]\\d{3,4}$/.test(port) && ', '', 'Codex takes a port'],
  ]),
  ...within('engine/run/work/agent/web-socket.ts', socket, [
    ['answers to somebody else', 'if (accept !== accepted(key))', 'if (accept === key)', refused],
    ['other states than 101', 'if (!/^HTTP\\/1\\.1 101(?: |$)/.test(status))', "if (status === '')", refused],
    ['heads without an end', 'lines < maxHeadLines ? await', 'lines < 1e9 ? await', refused],
    ['extensions', 'if (/^sec-websocket-(?:extensions|protocol)$/i.test(name))', "if (name === '')", refused],
    ['masks of a server', ' || (second & 0x80) !== 0', '', unknown],
    ['reserved bits', '(first & 0x70) !== 0 || ', '', unknown],
    ['long control frames', ' || length > maxControlBytes', '', unknown],
    ['parts of control frames', '!isLast || ', '', unknown],
    ['messages', 'if (size > maxLineBytes)', 'if (size < 0)', unknown],
    ['octets in all', 'if (all > maxBytes)', 'if (all < 0)', unknown],
    ['frames in all', 'if (frames > maxLines)', 'if (frames < 0)', unknown],
    ['texts within texts', 'kind !== (parts === undefined ? text : continuation)', 'kind > text', unknown],
    ['texts that are none', '{ fatal: true }', '{ fatal: false }', unknown],
    ['what nobody takes', 'if (size > maxWaitingBytes)', 'if (size < 0)', 'what it says is read although'],
    ['masks of ours', ' ^ (mask[at & 3] ?? 0)', '', 'texts come whole'],
  ]),
];
