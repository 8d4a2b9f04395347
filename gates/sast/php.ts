import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { phpArguments, phpBehind, phpCalled, phpNames } from '../../readers/source/names/php-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits, type Hit } from '../direct-eval/hit.ts';
import { type SastRowId, sastHit } from './rows.ts';

const verifying = /^\\?CURLOPT_SSL_VERIFY(?:PEER|HOST|STATUS)$/;

/**
 * What our rows say of PHP. Function names are case-insensitive; methods and definitions of the same name do not count.
 */
export function phpSast(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  const names = phpNames(reading);
  return collectHits(tree, { function_call_expression: callHit, array_element_initializer: elementHit });

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    if (!target) return undefined;
    const also: number[] = [];
    const name = phpCalled(reading, names, target, also);
    const given = phpArguments(node);
    const [first, second, third] = given;
    const at = (row: SastRowId, call: string) => sastHit(row, node, call, also, target.start);
    if (name === 'unserialize' && first && !isOwnData(first) && !limitsClasses(second))
      return at('sast/php-unserialize', name);
    const isOption = /^(?:curl_setopt|curl_share_setopt|curl_multi_setopt)$/.test(name ?? '');
    if (isOption && verifying.test(text(second)) && isOff(second, third))
      return at('sast/php-tls-unverified', text(second));
    return undefined;
  }

  /** `[CURLOPT_SSL_VERIFYPEER => false]`, `['verify_peer' => false]`. */
  function elementHit(node: SyntaxNode): Hit | undefined {
    const [key, value] = node.children;
    if (!key || !value) return undefined;
    const said = literal(key) ?? text(key);
    if (!verifying.test(text(key)) && !/^verify_peer(?:_name)?$/.test(literal(key) ?? '')) return undefined;
    if (!isOff(key, value)) return undefined;
    return sastHit('sast/php-tls-unverified', node, said);
  }

  function behind(node: SyntaxNode | undefined): SyntaxNode | undefined {
    return phpBehind(reading, names, node);
  }

  /** For the host name, 1 is off too: it only looks whether there is one. */
  function isOff(option: SyntaxNode | undefined, value: SyntaxNode | undefined): boolean {
    const said = text(behind(value)).toLowerCase();
    return said === 'false' || said === '0' || (said === '1' && /VERIFYHOST$/.test(text(option)));
  }

  function isOwnData(node: SyntaxNode): boolean {
    const value = behind(node);
    if (literal(value) !== undefined) return true;
    return (
      value?.type === 'function_call_expression' &&
      phpCalled(reading, names, childOf(value, 'function') ?? value, []) === 'serialize'
    );
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
