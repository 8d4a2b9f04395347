import { childOf, childrenOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import type { Reading } from './reading.ts';

const shells = /^(?:.*\/)?(?:ba|z|da|k|a)?sh$/;
/** Commands that run the words after them. */
const wrappers =
  /^(?:.*\/)?(?:builtin|command|sudo|doas|env|nohup|exec|time|xargs|nice|timeout|setsid|stdbuf|busybox|chroot|watch)$/;
const dynamic =
  /^(?:simple_expansion|expansion|command_substitution|process_substitution|string_expansion|translated_string)$/;

interface Word {
  readonly node: SyntaxNode;
  /** As far as it is written down. */
  readonly said: string | undefined;
}

/**
 * Direct execution in shell scripts: `eval`, a shell given a built text (`sh -c "$x"`), input piped into a shell, and sourcing a
 * process substitution. `exec` replaces the process and evaluates nothing, so it does not count.
 */
export function shellHits(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const own = new Set<string>();
  const values = new Map<string, SyntaxNode>();
  const aliases = new Map<string, string>();
  for (const node of tree.nodes) {
    if (node.type === 'function_definition') own.add(text(childOf(node, 'name')));
    else if (node.type === 'variable_assignment') {
      const value = childOf(node, 'value');
      if (value) values.set(text(childOf(node, 'name')), value);
    } else if (node.type === 'command' && text(childOf(node, 'name')) === 'alias') {
      for (const argument of childrenOf(node, 'argument')) {
        const found = /^(\w+)=["']?(\w+)["']?$/.exec(text(argument));
        if (found?.[1] !== undefined && found[2] !== undefined) aliases.set(found[1], found[2]);
      }
    }
  }
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    if (node.type !== 'command') continue;
    const hit = commandHit(node);
    if (hit) hits.push(hit);
  }
  return hits;

  function commandHit(node: SyntaxNode): Hit | undefined {
    const name = childOf(node, 'name')?.children[0];
    if (!name) return undefined;
    const words: Word[] = [name, ...childrenOf(node, 'argument')].map((one) => ({
      node: one,
      said: saidOf(one),
    }));
    let at = 0;
    // Past what runs the words after it, its options and assignments.
    for (let steps = 0; steps < 8 && wrappers.test(words[at]?.said ?? ''); steps += 1) {
      const wrapper = words[at]?.said ?? '';
      at += 1;
      while (
        at < words.length &&
        (/^-|^\w+=/.test(words[at]?.said ?? '-') || /^\d+[smhd]?$/.test(words[at]?.said ?? ''))
      )
        at += 1;
      const rest = words
        .slice(at)
        .findIndex(({ said }) => said !== undefined && (shells.test(said) || said === 'eval'));
      // An option's value (`sudo -u name`) may stand before the command.
      if (
        rest > 0 &&
        rest <= 4 &&
        /^(?:.*\/)?(?:sudo|doas|env|xargs|nice|timeout|chroot|watch)$/.test(wrapper) &&
        at > 1
      )
        at += rest;
    }
    const word = words[at];
    if (!word) return undefined;
    const called = commandOf(word, at === 0);
    const given = words.slice(at + 1);
    const hit = (call: string, reason: string): Hit => ({
      start: word.node.start,
      end: node.end,
      call,
      why: reason,
    });
    const isOwn = called !== undefined && own.has(called) && at === 0;
    if (called === 'eval' && given.length > 0 && !isOwn)
      return hit('eval', 'evaluates a string as shell code');
    if ((called === 'source' || called === '.') && given[0]?.node.type === 'process_substitution')
      return hit(called, 'runs what another command prints');
    if (called === undefined || isOwn || !shells.test(called)) return undefined;
    return shellCall(node, called, given, hit);
  }

  function commandOf({ node, said }: Word, isFirst: boolean): string | undefined {
    if (said !== undefined) return isFirst && !own.has(said) ? (aliases.get(said) ?? said) : said;
    const inner = node.type === 'string' && node.children.length === 1 ? node.children[0] : node;
    if (!inner || !/^(?:simple_expansion|expansion)$/.test(inner.type)) return undefined;
    const name = text(inner.children[0]);
    if (name === 'SHELL' || name === 'BASH') return 'sh';
    const value = values.get(name);
    return value && saidOf(value);
  }

  function shellCall(
    node: SyntaxNode,
    called: string,
    given: readonly Word[],
    hit: (call: string, reason: string) => Hit,
  ): Hit | undefined {
    let script: Word | undefined;
    let readsInput = true;
    for (let at = 0; at < given.length; at += 1) {
      const said = given[at]?.said;
      if (said !== undefined && /^-[a-zA-Z]*c$/.test(said)) {
        const line = given.slice(at + 1).find((word) => word.said === undefined || !/^-/.test(word.said));
        return line && isBuilt(line.node)
          ? hit(`${called} -c`, 'hands a built command line to a shell')
          : undefined;
      }
      if (said !== undefined && /^[-+]/.test(said)) {
        if (/^-[a-zA-Z]*s/.test(said)) break;
        if (/^[-+]o$/.test(said)) at += 1;
        continue;
      }
      script = given[at];
      readsInput = said === '/dev/stdin' || said === '-';
      break;
    }
    if (script?.node.type === 'process_substitution') return hit(called, 'runs what another command prints');
    if (!readsInput) return undefined;
    const here = node.children.find(({ type }) => type === 'herestring_redirect');
    if (here) return isBuilt(here) ? hit(`${called} <<<`, 'hands a built text to a shell') : undefined;
    if (node.children.some(({ type }) => type === 'file_redirect' || type === 'heredoc_redirect'))
      return undefined;
    return isPipedInto(node) ? hit(`| ${called}`, 'runs what is piped into a shell') : undefined;
  }

  function isPipedInto(node: SyntaxNode): boolean {
    let at = node;
    while (at.parent && /^(?:redirected_statement|negated_command)$/.test(at.parent.type)) at = at.parent;
    const { parent } = at;
    return parent?.type === 'pipeline' && parent.children[0] !== at;
  }

  /** Holds something that is only known when it runs, or a placeholder that another command fills in. */
  function isBuilt(node: SyntaxNode): boolean {
    if (dynamic.test(node.type)) return true;
    if (node.type === 'raw_string' || node.type === 'ansi_c_string') return text(node).includes('{}');
    return node.children.some(isBuilt) || (node.type === 'string' && text(node).includes('{}'));
  }

  function saidOf(node: SyntaxNode): string | undefined {
    return reading.literal(node);
  }
}
