#include "fcgi-app/payment/payment_call.h"

struct payment_flow payment_call_flow(const struct services *services)
{
    return (struct payment_flow){
        .settings = services->settings,
        .postgres = services->postgres,
        .redis = services->redis,
        .provider = services->payment_provider,
    };
}
