#include "sluicectl/server/installation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ADDRESS_MAX = 64 };

static const char RUN_URL[] = "http://127.0.0.1:8080";

static const char SYSTEM_FOLDER[] = "/etc/sluice";
static const char SYSTEM_KEY[] = "/etc/sluice/secrets/operators/admin.key";
static const char SYSTEM_ADDRESS_FILE[] = "/etc/sluice/local-address";
static const char SYSTEM_ADDRESS[] = "127.0.0.1:280";
static const char NO_ADDRESS[] = "none";

static const char *run_key(const struct invocation *invocation)
{
    return arena_format(invocation->arena, "%s/secrets/admin.key", invocation->data);
}

bool installation_is_system(const struct invocation *invocation)
{
    return strcmp(invocation->data, DATA_USUAL) == 0 && access(run_key(invocation), F_OK) != 0 &&
           access(SYSTEM_FOLDER, F_OK) == 0;
}

const char *installation_key_file(const struct invocation *invocation)
{
    const char *named = getenv("SLUICE_ADMIN_KEY_FILE");

    if (named != NULL && named[0] != '\0') {
        return named;
    }
    return installation_is_system(invocation) ? SYSTEM_KEY : run_key(invocation);
}

const char *installation_url(const struct invocation *invocation)
{
    char line[ADDRESS_MAX] = "";

    if (!installation_is_system(invocation)) {
        return RUN_URL;
    }
    FILE *file = fopen(SYSTEM_ADDRESS_FILE, "re");
    if (file != NULL) {
        bool is_there = fgets(line, sizeof(line), file) != NULL;
        (void)fclose(file);
        line[is_there ? strcspn(line, " \t\r\n") : 0] = '\0';
    }
    if (strcmp(line, NO_ADDRESS) == 0) {
        return "";
    }
    return arena_format(invocation->arena, "http://%s", line[0] != '\0' ? line : SYSTEM_ADDRESS);
}
