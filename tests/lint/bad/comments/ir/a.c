/* a.c - what it does. x + 0  ->  x
 * load %a  ->  wait; load %a Then more prose.
 *     x * 1  ->  x
 * ->  x
 */
