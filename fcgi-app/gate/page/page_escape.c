#include "fcgi-app/gate/page/page_template.h"

/* JSON between script tags: no text in it may end the script element. */
void page_add_json(struct buffer *out, struct str json)
{
    for (size_t i = 0; i < json.n; i++) {
        if (json.p[i] == '<') {
            buffer_add(out, STR("\\u003c"));
        } else {
            buffer_add_char(out, json.p[i]);
        }
    }
}

void page_add_escaped(struct buffer *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '<':
            buffer_add(out, STR("&lt;"));
            break;
        case '>':
            buffer_add(out, STR("&gt;"));
            break;
        case '&':
            buffer_add(out, STR("&amp;"));
            break;
        case '"':
            buffer_add(out, STR("&quot;"));
            break;
        case '\'':
            buffer_add(out, STR("&#39;"));
            break;
        default:
            buffer_add_char(out, text.p[i]);
        }
    }
}
