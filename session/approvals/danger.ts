/** Rules that find dangerous commands. */
import path from 'node:path';
import { namedPaths, writtenPaths } from '../../workspace/command-acl/command-paths.ts';
import { isVersionControl } from '../../workspace/process/version-control.ts';
import type { ShellReading, ShellWord, SimpleCommand } from '../../workspace/shell/shell.ts';

type ReadText = Extract<ShellReading, { readonly ok: true }>;

/** Why something is dangerous: the rule by its name, and its reason in a person's words. */
export interface Danger {
  readonly rule: string;
  readonly why: string;
}

/** Programs that are dangerous with any arguments, by rule. */
const programs: ReadonlyMap<string, Danger> = new Map(
  [
    ['erases', 'it erases what cannot be brought back', 'shred srm wipe wipefs blkdiscard'],
    [
      'disks',
      'it writes to disks or mounts them',
      'dd mkfs mke2fs mkswap fdisk sfdisk cfdisk gdisk sgdisk parted mount umount losetup cryptsetup swapon swapoff fsck tune2fs lvremove vgremove pvremove debugfs',
    ],
    [
      'ends-processes',
      'it ends processes or the machine',
      'kill pkill killall killall5 skill xkill tkill shutdown reboot halt poweroff init telinit systemctl service launchctl',
    ],
    [
      'accounts',
      'it changes who may do what',
      'passwd chpasswd useradd userdel usermod adduser deluser groupadd groupdel groupmod visudo chsh chfn vipw gpasswd chown chgrp chattr setfacl setcap mknod',
    ],
    [
      'system',
      'it changes the system itself',
      'insmod rmmod modprobe sysctl iptables ip6tables nft ufw ip ifconfig route apt apt-get dpkg yum dnf rpm apk pacman zypper snap brew update-alternatives ldconfig defaults csrutil',
    ],
    [
      'far-away',
      'it changes something on other machines',
      'docker podman nerdctl kubectl helm terraform tofu pulumi ansible ansible-playbook aws gcloud az heroku flyctl vercel netlify wrangler twine vsce sftp scp ftp tftp',
    ],
    [
      'opens-line',
      'it opens a line to another machine',
      'nc ncat netcat socat telnet rsh rlogin mosh ngrok cloudflared',
    ],
  ].flatMap(([rule = '', why = '', names = '']) =>
    names.split(' ').map((name): [string, Danger] => [name, { rule, why }]),
  ),
);

/** Words after a program's name with which it publishes, or changes an account. */
const publishing: ReadonlyMap<string, RegExp> = new Map([
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name): [string, RegExp] => [
    name,
    /^(?:publish|unpublish|deprecate|owner|access|token|login|logout|adduser|add-user|dist-tags?)$/,
  ]),
  ['cargo', /^(?:publish|login|logout|yank|owner)$/],
  ['gem', /^(?:push|yank|owner|signin)$/],
  ['poetry', /^publish$/],
  ['uv', /^publish$/],
  ['hatch', /^publish$/],
  ['flit', /^publish$/],
  ['dotnet', /^(?:nuget|push)$/],
  ['mvn', /^(?:\w+:)?deploy/],
  ['gradle', /^(?:\S*:)?publish/],
  ['rsync', /^(?:--delete|--remove|\S*:|rsync:)/],
  [
    'curl',
    /^(?:-[a-zA-Z]*[dFTXoOKc]|--(?:data|form|upload|request|output|remote-n|config|json|url-q|cookie-j|unix|next))/,
  ],
  ['wget', /^--(?:post|body|method|execute|use-askpass)|^-[a-zA-Z]*e/],
]);

/** Programs that run a text they are given; with which options they do. */
const interpreters: readonly (readonly [name: RegExp, inline: RegExp])[] = [
  [/^(?:python|pypy)[\d.]*$/, /^-[a-zA-Z]*c/],
  [/^(?:node|nodejs|bun|deno|tsx|ts-node)$/, /^(?:-[a-z]*[ep]|--(?:eval|print)|eval$|repl$)/],
  [/^perl[\d.]*$/, /^-[a-zA-Z]*[eEnpiM]/],
  [/^(?:ruby|jruby|irb)[\d.]*$/, /^-[a-zA-Z]*[er]/],
  [/^php[\d.]*$/, /^-[rBRE]/],
  [/^(?:lua|luajit)[\d.]*$/, /^-[el]/],
  [
    /^(?:Rscript|R|julia|elixir|iex|groovy|scala|runghc|guile|racket|sbcl|clojure|tclsh|wish|osascript|erl|ocaml|swipl|octave|psql|mysql|mariadb|sqlite3|mongosh|redis-cli)$/,
    /^(?:-[a-zA-Z]*[eEcrf]$|--?(?:e|c|eval|expression|execute|command|load)\b)/,
  ],
  // These programs read their commands from a stream or a file, whatever their arguments are.
  [/^(?:ed|ex|vi|vim|nvim|emacs|nano|dc|bc|m4|jdb|gnuplot|jshell)$/, /^/],
];

const shells = /^(?:sh|dash|bash|ash)$/;

/** Programs with arguments that name the files that they write, remove or link. */
const writers = new Set(
  'rm rmdir unlink mv cp ln install tee touch mkdir mkfifo truncate split csplit tar gtar bsdtar unzip zip gzip gunzip bzip2 xz zstd patch chmod sed gsed rsync sort uniq find curl wget make gmake'.split(
    ' ',
  ),
);

/** Why one simple command is dangerous, by its own words alone. `undefined` does not imply that it is safe. */
export function dangerOf(command: SimpleCommand): Danger | undefined {
  const [first, ...args] = command.argv;
  const name = first?.literal ?? '';
  if (isVersionControl(name))
    return {
      rule: 'version-control',
      why: 'version control has a tool of its own, without hooks and settings',
    };
  const program = programs.get(name) ?? (/^(?:mkfs|fsck)\./.test(name) ? programs.get('dd') : undefined);
  if (program !== undefined) return program;
  return (
    deletes(name, args) ??
    permits(name, args) ??
    publishes(name, args) ??
    runsText(name, args) ??
    leaves(name, command) ??
    governs(name, args)
  );
}

function deletes(name: string, args: readonly ShellWord[]): Danger | undefined {
  if (name === 'find' && args.some(({ head }) => /^-(?:delete|fprint|fls)/.test(head)))
    return { rule: 'deletes', why: '`find` deletes or writes here' };
  if (name !== 'rm') return undefined;
  if (args.some(({ head }) => /^-[a-zA-Z]*[rRf]|^--(?:recursive|force|no-preserve)/.test(head)))
    return { rule: 'deletes', why: '`rm` deletes whole directories, or without asking' };
  if (args.some(({ literal }) => literal === undefined))
    return { rule: 'deletes', why: 'what `rm` deletes is known only when it runs' };
  return undefined;
}

function permits(name: string, args: readonly ShellWord[]): Danger | undefined {
  if (name !== 'chmod') return undefined;
  const isWide = args.some(({ literal, head }) =>
    literal === undefined
      ? true
      : /^-[a-zA-Z]*R|^--recursive|^[0-7]*[2367]$|^[2-7][0-7]{3}$|^[ugoa]*[+=][rwxX]*[st]|^[ug]*[ao][ugoa]*[+=][rx]*w/.test(
          head,
        ),
  );
  return isWide ? { rule: 'permissions', why: 'it opens files to others, or many at once' } : undefined;
}

function publishes(name: string, args: readonly ShellWord[]): Danger | undefined {
  const word = publishing.get(name);
  const found = word && args.find(({ head }) => word.test(head));
  return found && { rule: 'publishes', why: `\`${name}\` sends, publishes or fetches into files here` };
}

/** Inline scripts cannot be classified. */
function runsText(name: string, args: readonly ShellWord[]): Danger | undefined {
  const opaque = {
    rule: 'opaque-script',
    why: `what \`${name}\` runs here is not in the command’s own words`,
  };
  if (shells.test(name)) return isShellText(args) ? undefined : opaque;
  if (name === 'awk' || name === 'gawk' || name === 'mawk' || name === 'nawk')
    return args.some(({ text }) => /system|getline|\||>|^-[a-zA-Z]*[fEl]|^--|@/.test(text))
      ? opaque
      : undefined;
  for (const [names, inline] of interpreters) {
    if (!names.test(name)) continue;
    if (args.some(({ head }) => inline.test(head))) return opaque;
    const isTold = args.some(
      ({ literal = '-' }) => !literal.startsWith('-') || /^--?(?:test|version|help|v|V|h)\b/.test(literal),
    );
    return isTold && !args.some(({ literal }) => literal === '-') ? undefined : opaque;
  }
  return undefined;
}

/** `sh -c TEXT`: the commands of the text were parsed and are classified one by one. */
function isShellText(args: readonly ShellWord[]): boolean {
  return args.some(({ literal = '' }) => /^-[a-zA-Z]*c/.test(literal));
}

function leaves(name: string, command: SimpleCommand): Danger | undefined {
  const isMoving = name === 'cd' || name === 'pushd';
  if (!isMoving && !writers.has(name)) return undefined;
  // Its script reads like a path.
  const isSed = name === 'sed' || name === 'gsed';
  if (isSed && !command.argv.some(({ head }) => /^-[a-zA-Z]*i|^--in-place/.test(head))) return undefined;
  const named = namedPaths({ ok: true, commands: [command], variables: [], redirects: [] });
  // After `cd`, `namedPaths` treats every relative path as unknown, so the operands of `cd` are checked directly.
  const isOut = isMoving
    ? command.argv.slice(1).some(leadsOut)
    : named.some(({ kind }) => kind === 'outside');
  return isOut ? { rule: 'outside', why: `\`${name}\` names a place outside the workspace` } : undefined;
}

function leadsOut({ literal }: ShellWord): boolean {
  if (literal === undefined) return true;
  if (path.posix.isAbsolute(literal)) return !path.posix.normalize(literal).startsWith('/tmp/');
  const normal = path.posix.normalize(literal);
  return normal === '..' || normal.startsWith('../');
}

/** Where version control, writ and tools keep what later runs by itself. */
const governing = /(?:^|\/)\.(?:git|writ|husky|ssh|gnupg)(?:\/|$)/i;

function governs(name: string, args: readonly ShellWord[]): Danger | undefined {
  if (!writers.has(name) || name === 'find') return undefined;
  return args.some(({ literal, head }) => governing.test(literal ?? head))
    ? { rule: 'governs', why: `\`${name}\` names what version control, writ or a tool runs by itself` }
    : undefined;
}

/** Why what a text writes by redirection is dangerous. */
export function dangerOfWrites(reading: ReadText): Danger | undefined {
  const written = writtenPaths(reading);
  if (written.some(({ kind }) => kind === 'outside' || kind === 'unknown'))
    return {
      rule: 'outside',
      why: 'a redirection writes to a place that is not proven to be in the workspace',
    };
  return written.some((at) => at.kind === 'workspace' && governing.test(at.relative))
    ? { rule: 'governs', why: 'a redirection writes to what version control, writ or a tool runs by itself' }
    : undefined;
}
