/** What comes from outside, as text of a composer: line ends are `\n`, other control characters but tabs are gone. */
export function plainText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  if (!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(whole)) return whole;
  return whole.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');
}
