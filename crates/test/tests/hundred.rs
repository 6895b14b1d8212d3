//! A hundred tests with a server each: `cargo test -p kubist-test --test hundred` shows how long
//! they take together.

use kubist::api::core::v1::ConfigMap;
use kubist::client::Api;
use kubist_test::TestServer;

/// What each test does: it creates ten objects, deletes one, and sees what its own server has.
async fn one(number: usize) -> kubist_test::Result {
    let server = TestServer::start().await?;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    for index in 0..10 {
        let mut map = ConfigMap::default();
        map.metadata.name = format!("map-{number}-{index}").into();
        maps.create(&map).await?;
    }
    maps.delete(&format!("map-{number}-3")).await?;
    let all = server.objects::<ConfigMap>("default");
    let found = all.eventually(|maps| maps.len() == 9).await?;
    let prefix = format!("map-{number}-");
    assert!(found.iter().all(|it| it.metadata.name.starts_with(&prefix)));
    Ok(())
}

macro_rules! tests {
    ($($module:ident $number:literal)*) => {$(
        mod $module {
            #[tokio::test(start_paused = true)]
            async fn each_test_has_a_server_of_its_own() -> kubist_test::Result {
                super::one($number).await
            }
        }
    )*};
}

tests! {
    t00 0 t01 1 t02 2 t03 3 t04 4 t05 5 t06 6 t07 7 t08 8 t09 9
    t10 10 t11 11 t12 12 t13 13 t14 14 t15 15 t16 16 t17 17 t18 18 t19 19
    t20 20 t21 21 t22 22 t23 23 t24 24 t25 25 t26 26 t27 27 t28 28 t29 29
    t30 30 t31 31 t32 32 t33 33 t34 34 t35 35 t36 36 t37 37 t38 38 t39 39
    t40 40 t41 41 t42 42 t43 43 t44 44 t45 45 t46 46 t47 47 t48 48 t49 49
    t50 50 t51 51 t52 52 t53 53 t54 54 t55 55 t56 56 t57 57 t58 58 t59 59
    t60 60 t61 61 t62 62 t63 63 t64 64 t65 65 t66 66 t67 67 t68 68 t69 69
    t70 70 t71 71 t72 72 t73 73 t74 74 t75 75 t76 76 t77 77 t78 78 t79 79
    t80 80 t81 81 t82 82 t83 83 t84 84 t85 85 t86 86 t87 87 t88 88 t89 89
    t90 90 t91 91 t92 92 t93 93 t94 94 t95 95 t96 96 t97 97 t98 98 t99 99
}
