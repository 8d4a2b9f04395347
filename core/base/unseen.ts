/**
 * Every character that is not seen, or that changes how others are seen: controls, formatting and bidirectional
 * characters, line separators, lone surrogates, private use, unassigned, spaces other than the common one.
 */
export const unseen =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|\u2800/gu;
