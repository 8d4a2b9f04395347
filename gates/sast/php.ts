import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { phpNames } from '../../readers/source/names/php-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { type CallRow, callOf, collectHits, type Hit, hitOf } from '../direct-eval/hits.ts';
import { sastHit } from './rows.ts';

const verifying = /^\\?CURLOPT_SSL_VERIFY(?:PEER|HOST|STATUS)$/;

/**
 * What our rows say of PHP. Function names are case-insensitive; methods and definitions of the same name do not count.
 */
export function phpSast(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  const { behind, reached } = phpNames(reading);
  const rows: readonly CallRow[] = [
    [/^unserialize$/, 'sast/php-unserialize', ({ given }) => isForeign(given[0]) && !limitsClasses(given[1])],
    [
      /^curl_(?:share_|multi_)?setopt$/,
      'sast/php-tls-unverified',
      ({ given: [, option, value] }) =>
        verifying.test(text(option)) && isOff(option, value) && { call: text(option) },
    ],
  ];
  return collectHits(tree, {
    function_call_expression: (node) => {
      const target = childOf(node, 'function');
      return target && hitOf(rows, callOf(node, target), reached(target).slice(-1));
    },
    array_element_initializer: elementHit,
  });

  /** `[CURLOPT_SSL_VERIFYPEER => false]`, `['verify_peer' => false]`. */
  function elementHit(node: SyntaxNode): Hit | undefined {
    const [key, value] = node.children;
    if (!key || !value) return undefined;
    const said = literal(key) ?? text(key);
    if (!verifying.test(text(key)) && !/^verify_peer(?:_name)?$/.test(literal(key) ?? '')) return undefined;
    if (!isOff(key, value)) return undefined;
    return sastHit('sast/php-tls-unverified', node, said);
  }

  /** For the host name, 1 is off too: it only looks whether there is one. */
  function isOff(option: SyntaxNode | undefined, value: SyntaxNode | undefined): boolean {
    const said = text(behind(value)).toLowerCase();
    return said === 'false' || said === '0' || (said === '1' && /VERIFYHOST$/.test(text(option)));
  }

  function isForeign(node: SyntaxNode | undefined): boolean {
    const value = behind(node);
    const target = childOf(value, 'function');
    const isDumped = target && reached(target).at(-1)?.path === 'serialize';
    return value !== undefined && !isDumped && literal(value) === undefined;
  }

  function limitsClasses(node: SyntaxNode | undefined): boolean {
    const options = behind(node);
    if (!options) return false;
    // Options that are made elsewhere may limit them: only what is written down counts.
    if (options.type !== 'array_creation_expression') return true;
    return options.children.some((one) => {
      const [key, value] = one.children;
      return literal(key) === 'allowed_classes' && text(value).toLowerCase() !== 'true';
    });
  }
}
