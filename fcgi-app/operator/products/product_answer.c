#include "fcgi-app/operator/products/product_answer.h"

#include "fcgi-app/operator/operator_call.h"

void product_answer(struct response *response, int status, const struct product *product)
{
    json_object *answer = json_object_new_object();
    json_object *price = json_object_new_object();

    json_object_object_add(price, "amount", json_object_new_int64(product->price));
    json_object_object_add(price, "currency", text_json(product->currency));
    json_object_object_add(answer, "sku", text_json(product->sku));
    json_object_object_add(answer, "name", text_json(product->name));
    json_object_object_add(answer, "price", price);
    json_object_object_add(answer, "taxFree", json_object_new_boolean(product->tax_free));
    json_object_object_add(answer, "stock", json_object_new_int64(product->stock));
    json_object_object_add(answer, "available", json_object_new_int64(product->available));
    json_object_object_add(answer, "queue", text_json(product->queue));
    response_json_object(response, status, answer);
    (void)json_object_put(answer);
}
