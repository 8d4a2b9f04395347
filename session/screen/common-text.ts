/**
 * Text whose signs are all seen as they are, one column each: ASCII, Latin letters, common punctuation, and the signs
 * that screens draw themselves. The expressions that know every other sign take longer to compile than a screen to
 * draw.
 */
export const commonText = /^[\x20-\x7e\xa1-\xac\xae-\u024f\u2010-\u2027\u2190-\u2193\u25b8\u2713\u2717]*$/;
