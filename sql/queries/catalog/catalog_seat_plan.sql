-- The seats of a show, in the order of its plan: lines `id<TAB>section<TAB>row<TAB>number<TAB>amount`. Tabs and line
-- feeds in a name become spaces.
-- Params: $1 show.
-- Returns: 0 or 1 row: version of the show, text.
-- Called by: lib/catalog/source.c.
SELECT s.version,
       coalesce((SELECT string_agg(concat_ws(E'\t', t.id, translate(t.section, E'\t\n', '  '),
                                             translate(t.row_name, E'\t\n', '  '),
                                             translate(t.number, E'\t\n', '  '), t.price_amount) || E'\n',
                                   '' ORDER BY t.position, t.id)
                   FROM seat t WHERE t.show = s.id), '')
  FROM show s
 WHERE s.id = $1
